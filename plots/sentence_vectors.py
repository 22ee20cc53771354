"""Figures of sentence vectors: cosines of all pairs, correlation with human scores, a search, learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from plots.attention import cut, literal, number
from plots.marks import LEGEND_ABOVE, add_box, add_line, panels
from plots.theme import BLUE, DIVERGING, FONT_SIZE, GREY, ORANGE, PALETTE, SMALL, WORDS, broken

INK = "#111111"  # contrast of at least 5 : 1 on every colour from white to vermilion
CELL = 56  # pixels
NAME = 22  # columns of a line of a model's name
LABEL, LINES = 16, 3  # of a sentence beside its row: columns of a line, lines
ABOVE, LONGEST = 44, 60  # columns of a line above a bar, as many as a phone has room for; of the whole text there
PITCH, FURTHER = 35.5, 18  # pixels from bar to bar; more for a further line of the text above it


@dataclass(frozen=True)
class CosineMatrix:
    """title: list of lines · values: (N, N), symmetric · closest: the framed pair."""

    title: Sequence[str]
    values: np.ndarray
    closest: tuple[int, int]


def cosine_matrix_of(matrix: CosineMatrix, sentences: Sequence[str], axis: str) -> go.Figure:
    """One model's cosines on a scale from −1 to 1. Rows and columns are the sentences, numbered from 1; the diagonal is
    left blank. axis: title of the x axis."""
    names = [str(n) for n in range(1, len(sentences) + 1)]
    others = np.where(np.eye(len(names), dtype=bool), np.nan, matrix.values)
    fig = panels(["<br>".join(map(literal, matrix.title))])
    fig.update_annotations(x=1, xanchor="right", align="right")  # on a phone it is wider than the matrix
    fig.add_heatmap(
        z=others.tolist(),
        x=names,
        y=names,
        # ".15" and "−.07": six of "−0.07" are wider than a phone
        text=[["" if np.isnan(value) else number(value).replace("0.", ".") for value in row] for row in others],
        texttemplate="%{text}",
        textfont={"size": SMALL, "color": INK},
        hovertemplate="%{y} – %{x}: %{z:.3f}<extra></extra>",
        hoverongaps=False,
        colorscale=DIVERGING,
        zmin=-1,
        zmax=1,
        showscale=False,
        xgap=2,
        ygap=2,
    )
    for row, column in (matrix.closest, matrix.closest[::-1]):
        add_box(fig, *[(at - 0.5, at + 0.5) for at in (column, row)], line={"width": 4, "color": BLUE})
    labels = [f"{in_lines(text)} <b>{name}</b>" for text, name in zip(sentences, names, strict=True)]
    fig.update_xaxes(type="category", showgrid=False, title_text=axis)
    fig.update_yaxes(type="category", showgrid=False, autorange="reversed", tickvals=names, ticktext=labels)
    return fig.update_layout(height=CELL * max(len(names), 4) + 130, margin={"t": 66})


def in_lines(text: str) -> str:
    """A text wrapped to at most LINES short lines, truncated, and escaped except for the line breaks."""
    lines = broken(literal(text), LABEL).split("<br>")
    return "<br>".join(lines[:LINES]) + "…" * (len(lines) > LINES)


@dataclass(frozen=True)
class Agreement:
    """One model's correlation with its 95 % interval; marked: drawn in colour."""

    name: str
    value: float
    low: float
    high: float
    marked: bool = False


def agreements(rows: Sequence[Agreement], title: str, axis: str) -> go.Figure:
    """One row per model, the highest on top: its correlation with interval; a line at zero."""
    rows = sorted(rows, key=lambda row: row.value)
    fig = go.Figure()
    for place, row in enumerate(rows):
        colour = BLUE if row.marked else GREY
        spread = {"type": "data", "array": [row.high - row.value], "arrayminus": [row.value - row.low]}
        fig.add_scatter(
            x=[row.value],
            y=[place],
            mode="markers",
            marker={"size": 15, "color": colour, "symbol": "circle" if row.marked else "diamond"},
            error_x={**spread, "color": colour, "thickness": 3, "width": 6},
            hovertemplate=f"{literal(row.name)}: {number(row.value)} "
            f"({number(row.low)} … {number(row.high)})<extra></extra>",
            showlegend=False,
        )
        note = {"text": f"<b>{number(row.value)}</b>", "showarrow": False, "font": {"size": FONT_SIZE}}
        fig.add_annotation(x=row.value, y=place, yshift=18, **note)
    names = [broken(literal(row.name), NAME) for row in rows]
    names = [f"<b>{name}</b>" if row.marked else name for name, row in zip(names, rows, strict=True)]
    fig.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, range=[-0.5, len(rows) - 0.2], showgrid=False)
    fig.update_xaxes(
        range=[min(-0.05, *(row.low - 0.05 for row in rows)), 1.0],
        title_text="<br>".join(broken(line, NAME) for line in axis.split("<br>")),
        zeroline=True,
        zerolinecolor=GREY,
    )
    heading = {"text": literal(title), "x": 0, "xanchor": "left"}
    fig.update_layout(title=heading, height=58 * len(rows) + 130, margin={"r": 16})
    return fig


@dataclass(frozen=True)
class SearchHit:
    """A line found by a search. alike: whether it is of the same kind as the nearest one."""

    line: str
    cosine: float
    alike: bool


def nearest_bars(rows: Sequence[SearchHit], title: str, axis: str) -> go.Figure:
    """One bar per line, the nearest on top, its text and cosine above it."""
    fig = go.Figure()
    notes, place = [], 0.0  # in pixels from the top
    for row in rows:
        words = broken(f"{number(row.cosine)} {cut(row.line, LONGEST)}", ABOVE)
        place += PITCH + FURTHER * words.count("<br>")
        fig.add_bar(
            x=[max(row.cosine, 0.0)],
            y=[place],
            orientation="h",
            width=0.2 * PITCH,
            marker={"color": BLUE if row.alike else GREY},
            hovertemplate=f"{literal(row.line)}: {number(row.cosine)}<extra></extra>",
            showlegend=False,
        )
        text = words.replace(number(row.cosine), f"<b>{number(row.cosine)}</b> ", 1)
        note = {"text": text, "showarrow": False, "align": "left", "font": {"size": SMALL, "color": WORDS}}
        notes.append({"x": 0, "y": place, "xanchor": "left", "yanchor": "bottom", "yshift": 4, **note})
    fig.update_layout(annotations=notes)
    fig.update_yaxes(visible=False, range=[place + PITCH / 2, PITCH / 10])
    fig.update_xaxes(range=[0, 1], title_text=axis, showgrid=False)
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=124 + round(place + 0.4 * PITCH),
        bargap=0,
        margin={"l": 8, "r": 8, "t": 40, "b": 44},
    )
    return fig


Marks = Sequence[tuple[int, Mapping[str, float]]]
SYMBOLS = ("circle", "diamond", "square", "x")


def plane(runs: Mapping[str, Marks], axes: tuple[str, str], title: str, step: str) -> go.Figure:
    """Path of each run in the plane of uniformity (x) and alignment (y), both better when small (Wang and Isola 2020);
    the last point is large. runs: name → (step, metrics)s."""
    fig = go.Figure()
    for place, (name, marks) in enumerate(runs.items()):
        colour, symbol = PALETTE[place % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)]
        dash = "solid" if colour != ORANGE else "dash"
        marks = [mark for mark in marks if {"alignment", "uniformity"} <= mark[1].keys()]
        x, y = ([metrics[axis] for _, metrics in marks] for axis in ("uniformity", "alignment"))
        hover = f"{literal(name)}, {literal(step)} %{{customdata}}: %{{x:.2f}}, %{{y:.2f}}<extra></extra>"
        steps, sizes = [at for at, _ in marks], [8] * (len(marks) - 1) + [18]
        add_line(fig, x, y, name, (colour, dash, symbol), size=sizes, customdata=steps, hovertemplate=hover)
    fig.update_xaxes(title_text=axes[0])
    fig.update_yaxes(title_text=axes[1], rangemode="tozero")
    heading = {"text": literal(title), "x": 0, "xanchor": "left"}
    return fig.update_layout(title=heading, height=420, legend=LEGEND_ABOVE)


def found_and_written(
    runs: Mapping[str, Marks], titles: tuple[str, str], looks: tuple[str, str], title: str, step: str
) -> go.Figure:
    """SimBERT's learning curves: left the share `found`, right nats per token on training questions (dotted) and on
    held-out ones. runs: name → (step, metrics)s · titles: of the panels · looks: labels of training and held out."""
    fig = panels(titles, columns=2, horizontal_spacing=0.1)
    lines = (("found", "solid", 1, looks[1]), ("nats_learned", "dot", 2, looks[0]), ("nats", "solid", 2, looks[1]))
    for place, (name, marks) in enumerate(runs.items()):
        colour, symbol = PALETTE[place % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)]
        for metric, dash, col, look in lines:
            there = [(at, metrics[metric]) for at, metrics in marks if metric in metrics]
            x, y = ([mark[i] for mark in there] for i in (0, 1))
            hover = f"{literal(name)}, {literal(look)}, %{{x}}: %{{y:.2f}}<extra></extra>"
            grouped = {"legendgroup": str(place), "showlegend": metric == "found", "row": 1, "col": col}
            add_line(fig, x, y, name, (colour, dash, symbol), size=9, hovertemplate=hover, **grouped)
    for dash, look in (("solid", looks[1]), ("dot", looks[0])):
        add_line(fig, [None], [None], look, (GREY, dash, "circle"), mode="lines", row=1, col=1)
    fig.update_xaxes(title_text=step)
    fig.update_yaxes(range=[0, 1.04], tickformat=".0%", row=1, col=1)
    fig.update_yaxes(rangemode="tozero", row=1, col=2)
    fig.update_layout(
        height=430,
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        margin={"t": 96},
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
    )
    return fig
