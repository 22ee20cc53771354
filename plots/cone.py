"""Figures of the cone: sentences in the plane of two of them, agreement by dimensions kept, a flow's likelihood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal, number
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, LEGEND_ABOVE, ORANGE, PINK, SMALL, WORDS, add_line, add_marks

HIGH = 370
LOOKS = ((BLUE, "solid", "circle"), (ORANGE, "dash", "diamond"), (GREEN, "dot", "square"), (PINK, "dashdot", "x"))


@dataclass(frozen=True)
class Cloud:
    """points: (N + 2, 2) within the unit circle, the user's two sentences last · mean: mean cosine of all pairs of the
    others, None to leave it out · own: cosine of the user's two."""

    title: str
    points: np.ndarray
    mean: float | None
    own: float


def clouds(panels: Sequence[Cloud], lines: Sequence[str], title: str, words: tuple[str, str]) -> go.Figure:
    """One unit circle per panel, around the origin: grey points, and lines to the user's two sentences. lines: sentence
    of each point · words: names of the mean and of the user's cosine."""
    fig = make_subplots(rows=1, cols=len(panels), horizontal_spacing=0.04)
    for column, panel in enumerate(panels, 1):
        place = {"row": 1, "col": column}
        points = np.asarray(panel.points)
        fig.add_shape(type="circle", x0=-1, x1=1, y0=-1, y1=1, line={"color": GREY, "width": 1}, **place)
        add_marks(
            fig,
            points[:-2, 0],
            points[:-2, 1],
            {"color": GREY, "size": 8, "opacity": 0.65},
            **place,
            customdata=[literal(line) for line in lines[:-2]],
            hover="%{customdata}",
        )
        for (x, y), line, colour, dash, symbol in zip(
            points[-2:], lines[-2:], (BLUE, ORANGE), ("solid", "dash"), ("star", "diamond"), strict=True
        ):
            fig.add_scatter(
                x=[0, x],
                y=[0, y],
                mode="lines+markers",
                showlegend=False,
                **place,
                line={"color": colour, "width": 3, "dash": dash},
                marker={"color": colour, "symbol": ["circle", symbol], "size": [6, 17]},
                hovertemplate=f"{literal(line)}<extra></extra>",
            )
        below = [] if panel.mean is None else [f"{literal(words[0])} <b>{number(panel.mean)}</b>"]
        below.append(f"{literal(words[1])} <b>{number(panel.own)}</b>")
        note = {"showarrow": False, "font": {"color": WORDS, "size": FONT_SIZE}, **place}
        name = "<br>".join(literal(panel.title).split(", "))  # in two lines a phone shows both panels
        fig.add_annotation(x=0, y=1.06, yanchor="bottom", text=f"<b>{name}</b>", **note)
        note["font"] = {"color": WORDS, "size": SMALL}
        fig.add_annotation(x=0, y=-1.06, yanchor="top", text="<br>".join(below), **note)
    hidden = {"visible": False, "fixedrange": True, "constrain": "domain"}
    fig.update_xaxes(range=[-1.15, 1.15], **hidden)
    fig.update_yaxes(range=[-1.5, 1.5], **hidden)
    for column in range(1, len(panels) + 1):
        axis = "" if column == 1 else str(column)
        fig.layout[f"yaxis{axis}"].update(scaleanchor=f"x{axis}", scaleratio=1)
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"}, height=HIGH, margin={"l": 4, "r": 4, "t": 4, "b": 4}
    )
    return fig


def over_dimensions(
    lines: Mapping[str, Sequence[float]],
    plain: Mapping[str, float],
    dimensions: Sequence[int],
    title: str,
    axes: tuple[str, str],
    as_they_are: str,
) -> go.Figure:
    """One line per set of sentence pairs over the dimensions kept; a grey one at the score of unchanged vectors."""
    fig = go.Figure()
    ticks = [str(k) for k in dimensions]
    for (name, values), look in zip(lines.items(), LOOKS, strict=False):
        add_line(fig, ticks, list(values), literal(name), look, f"{literal(name)}, %{{x}}: %{{y:.3f}}", size=11)
        fig.add_scatter(
            x=ticks,
            y=[plain[name]] * len(ticks),
            mode="lines",
            name=f"{literal(name)}, {literal(as_they_are)}",
            line={"color": GREY, "width": 2, "dash": look[1]},
            hovertemplate=f"{number(plain[name])}<extra></extra>",
        )
    fig.update_xaxes(title_text=axes[0], type="category")
    fig.update_yaxes(title_text=axes[1])
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=400,
        legend=LEGEND_ABOVE,
    )
    return fig


def likelihoods(runs: Mapping[str, Sequence[tuple[int, float]]], title: str, axes: tuple[str, str]) -> go.Figure:
    """One line per run over its steps."""
    fig = go.Figure()
    for place, (name, marks) in enumerate(runs.items()):
        steps, values = zip(*marks, strict=True)
        look, hover = LOOKS[place % len(LOOKS)], f"{literal(name)}, %{{x}}: %{{y:.3f}}"
        add_line(fig, steps, values, literal(name), look, hover)
    fig.update_xaxes(title_text=axes[0])
    fig.update_yaxes(title_text=axes[1])
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=330,
        showlegend=len(runs) > 1,
        legend=LEGEND_ABOVE,
    )
    return fig
