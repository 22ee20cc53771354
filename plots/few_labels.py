"""Figures of few-shot learning: words at a blank, and accuracies of patterns or methods, one mark per seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import plotly.graph_objects as go

from plots.attention import literal
from plots.theme import BLUE, FONT_SIZE, GREY, SMALL, WORDS, add_marks, broken

Share = tuple[str, float]


def words_at_blank(
    labels: Sequence[tuple[str, float, Sequence[Share]]], title: str, axis: str, chosen: str
) -> go.Figure:
    """One bar of probability per label; above it, in lines of three that a phone has room for, its words with their
    probabilities over the whole vocabulary.

    labels: (name, probability, (word, share)s) · chosen: the name that is drawn in colour."""
    fig, most = go.Figure(), 0  # lines above a bar
    for place, (name, p, shares) in enumerate(labels):
        fig.add_bar(
            x=[p],
            y=[place],
            orientation="h",
            width=0.28,
            showlegend=False,
            marker={"color": BLUE if name == chosen else GREY},
            hovertemplate=f"{literal(name)}: {p:.2%}<extra></extra>",
        )
        words = [f"{literal(word)} {share:.2%}" for word, share in shares[:6]]
        lines = [f"<b>{literal(name)} {p:.1%}</b>", *(" · ".join(words[at : at + 3]) for at in range(0, len(words), 3))]
        most = max(most, len(lines))
        note = {"text": "<br>".join(lines), "align": "left", "showarrow": False, "yanchor": "bottom", "yshift": 10}
        fig.add_annotation(x=0, y=place, xanchor="left", font={"size": SMALL, "color": WORDS}, **note)
    fig.update_yaxes(visible=False, range=[len(labels) - 0.5, -0.8])
    fig.update_xaxes(range=[0, 1], tickformat=".0%", title_text=broken(axis), showgrid=False)
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=(68 + 26 * most) * len(labels) + 90,
        margin={"l": 16, "r": 22, "t": 36, "b": 64},  # room for 0 % and 100 %
    )
    return fig


@dataclass(frozen=True)
class SeedScores:
    """values: accuracies, one per seed."""

    name: str
    values: tuple[float, ...]
    marked: bool = False


def accuracies(rows: Sequence[SeedScores], title: str, axis: str, chance: str) -> go.Figure:
    """One mark per seed, their mean as a line and a number; a dotted line at 0.5, labelled `chance`."""
    fig = go.Figure()
    for place, row in enumerate(rows):
        colour, mean = (BLUE if row.marked else GREY), fmean(row.values)
        add_marks(
            fig,
            list(row.values),
            [place] * len(row.values),
            {"size": 13, "color": colour, "symbol": "circle" if row.marked else "diamond"},
            hover=f"{literal(row.name)}: %{{x:.1%}}",
        )
        fig.add_shape(
            type="line", x0=mean, x1=mean, y0=place - 0.25, y1=place + 0.25, line={"color": colour, "width": 4}
        )
        note = {"text": f"<b>{literal(row.name)}  {mean:.1%}</b>", "showarrow": False, "xanchor": "left"}
        fig.add_annotation(x=0.4, y=place, yshift=20, font={"size": FONT_SIZE, "color": WORDS}, **note)
    fig.add_vline(
        x=0.5,
        line={"dash": "dot", "color": GREY},
        annotation_text=literal(chance),
        annotation_y=0,
        annotation_position="bottom right",
    )
    low = min([0.4, *(value - 0.03 for row in rows for value in row.values)])
    fig.update_yaxes(visible=False, range=[len(rows) - 0.4, -0.9])
    fig.update_xaxes(range=[low, 1.0], tickformat=".0%", title_text=axis)
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=64 * len(rows) + 110,
        margin={"l": 8, "r": 8, "t": 40, "b": 48},
    )
    return fig
