"""Figures over the layers of a model: metrics with the spread of repetitions, logit lens, and where tasks settle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from plots import marks
from plots.attention import literal
from plots.grammar import RIGHT
from plots.marks import name_rows
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION, broken, titled

LINE = 22  # pixels of a further line of a panel's title
# Lines differ by colour, dash and symbol. The last look is for baselines.
LOOKS = {
    "first": (BLUE, "solid", "circle"),
    "second": (ORANGE, "dash", "diamond"),
    "third": (GREEN, "dot", "square"),
    "fourth": (PINK, "dashdot", "triangle-up"),
    "fifth": (VERMILION, "longdash", "x"),
    "baseline": (GREY, "dot", "circle-open"),
}


@dataclass(frozen=True)
class Line:
    """values: one per layer · low, high: spread over repetitions, drawn as a band · faint: one of many similar lines,
    without markers and without its own legend entry."""

    name: str
    values: Sequence[float]
    look: str = "first"
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    faint: bool = False


@dataclass(frozen=True)
class Panel:
    """references: label → value of a horizontal line · span: y range · faint: legend entry of all faint lines."""

    title: str
    lines: Sequence[Line]
    references: Mapping[str, float] = field(default_factory=dict)
    percent: bool = False
    span: tuple[float, float] | None = None
    faint: str = ""


def over_layers(
    panels: Sequence[Panel], layers: Sequence[str], axis: str, *, columns: int = 2, title: str = ""
) -> go.Figure:
    """Draw the panels. layers: their names, the embeddings first · axis: title of the x axes."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    titles = [broken(literal(panel.title)) if columns == 1 else literal(panel.title) for panel in panels]
    spacing = {"horizontal_spacing": 0.22 / columns, "vertical_spacing": min(0.3, 0.42 / rows) if rows > 1 else 0}
    fig = marks.panels(titles, rows=rows, columns=columns, **spacing)
    shown: set[str] = set()
    places = list(range(len(layers)))
    for number, panel in enumerate(panels):
        at = {"row": number // columns + 1, "col": number % columns + 1}
        for line in panel.lines:
            colour, dash, symbol = LOOKS[line.look]
            name = panel.faint if line.faint else line.name
            if line.low is not None and line.high is not None:
                fig.add_scatter(
                    x=[*places, *reversed(places)],
                    y=[*line.high, *reversed(line.low)],
                    mode="lines",
                    fill="toself",
                    fillcolor=faded(colour),
                    line={"width": 0},
                    hoverinfo="skip",
                    showlegend=False,
                    **at,
                )
            value = "%{y:.1%}" if panel.percent else "%{y:.3f}"
            fig.add_scatter(
                x=places,
                y=list(line.values),
                mode="lines" if line.faint else "lines+markers",
                name=literal(name),
                legendgroup=name,
                showlegend=bool(name) and name not in shown,
                line={"color": colour, "dash": "solid" if line.faint else dash, "width": 1.2 if line.faint else 3},
                marker={"symbol": symbol, "size": 9, "color": colour},
                opacity=0.45 if line.faint else 1,
                hovertemplate=f"{literal(line.name)}<br>%{{x}}: {value}<extra></extra>",
                **at,
            )
            shown.add(name)
        for words, height in panel.references.items():
            named = {}  # a position without a text would show "new text"
            if words and columns <= 2:
                note = {"text": literal(words), "font": {"size": SMALL}}
                named = {"annotation": note, "annotation_position": _free_corner(panel.lines, height, panel.span)}
            fig.add_hline(y=height, line={"color": GREY, "dash": "dash", "width": 2}, **named, **at)
            if columns > 2 and words and words not in shown:  # small panels: in the legend instead
                shown.add(words)
                look = {"color": GREY, "dash": "dash", "width": 2}
                fig.add_scatter(x=[None], y=[None], mode="lines", name=literal(words), line=look, **at)
        fig.update_yaxes(tickformat=".0%" if panel.percent else None, range=panel.span, **at)
        step = max(1, math.ceil(len(layers) * max(columns, 2) / 13))  # the first name is long; a phone is narrow
        fig.update_xaxes(
            tickvals=places[::step],
            ticktext=[literal(name) for name in layers[::step]],
            tickangle=0,
            range=[-0.3, len(layers) - 0.7],
            title_text=axis if number + columns >= len(panels) else None,
            **at,
        )
    fig.update_layout(
        height=(250 if columns <= 2 else 205) * rows + 110,
        margin={"t": 40 + LINE * max((words.count("<br>") for words in titles), default=0)},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
    )
    return titled(fig, title)


def _free_corner(lines: Sequence[Line], height: float, span: tuple[float, float] | None) -> str:
    """Where the name of a horizontal line stands clear of the curves: at the right, if there is room."""
    room = {}
    for corner, ends, sign in (
        ("top right", slice(-2, None), 1),
        ("top left", slice(2), 1),
        ("bottom left", slice(2), -1),
        ("bottom right", slice(-2, None), -1),
    ):
        gaps = [[sign * (value - height) for value in line.values[ends]] for line in lines if not line.faint]
        gaps = [gap for gap in gaps if max(map(abs, gap), default=0) > 0.01]  # else the curve is the line
        room[corner] = min((0 if min(gap) < 0 else min(gap) for gap in gaps if max(gap) > 0), default=math.inf)
        if span and sign < 0:
            room[corner] = min(room[corner], height - span[0])  # below the panel stand the axis's names
    return next((corner for corner, free in room.items() if free > 0.15), max(room, key=room.__getitem__))


def faded(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


KIND_LOOKS = {"surface": (SKY, "square"), "syntax": (BLUE, "circle"), "meaning": (VERMILION, "diamond")}


@dataclass(frozen=True)
class Settled:
    """Layer at which a task is solved, as a share of the depth: 0 the embeddings, 1 the last layer. values: one per
    repetition, or the single number of a paper."""

    name: str
    kind: str
    values: Sequence[float]


def depths(groups: Mapping[str, Sequence[Settled]], kinds: Mapping[str, str], axis: str) -> go.Figure:
    """One panel per source (ours, a paper), one row per task, a mark for each repetition and a larger one at their
    mean. kinds: kind → label."""
    sizes = [len(rows) for rows in groups.values()]
    titles = [broken(literal(title)) for title in groups]
    more = LINE * max((title.count("<br>") for title in titles), default=0)
    height = 28 * sum(sizes) + (62 + more) * len(sizes) + 90
    spacing = min((48 + more) / height, 0.9 / max(len(groups) - 1, 1))
    layout = {"shared_xaxes": True, "row_heights": sizes, "vertical_spacing": spacing}
    fig = marks.panels(titles, rows=len(groups), **layout)
    shown: set[str] = set()
    for panel, rows in enumerate(groups.values(), 1):
        for place, row in enumerate(rows):
            colour, symbol = KIND_LOOKS[row.kind]
            mean = sum(row.values) / len(row.values)
            for values, size, opacity in ((list(row.values), 8, 0.5), ([mean], 15, 1)):
                first = size == 15 and row.kind not in shown
                fig.add_scatter(
                    x=values,
                    y=[place] * len(values),
                    mode="markers",
                    name=kinds[row.kind],
                    legendgroup=row.kind,
                    legendrank=list(kinds).index(row.kind),
                    showlegend=first,
                    marker={"color": colour, "symbol": symbol, "size": size, "opacity": opacity},
                    hovertemplate=f"{literal(row.name)}: %{{x:.0%}}<extra></extra>",
                    row=panel,
                    col=1,
                )
                if first:
                    shown.add(row.kind)
        name_rows(fig, [literal(row.name) for row in rows], 0.6, 0.6, showgrid=None, row=panel, col=1)
    fig.update_xaxes(range=[-0.04, 1.04], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    fig.update_annotations(x=1, xanchor="right")  # over the names, too: a phone has no room for a title beside them
    fig.update_xaxes(title_text=broken(axis, 18), row=len(groups), col=1)
    fig.update_layout(
        height=height,
        margin={"t": 40 + more, "r": 16},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
    )
    return fig


def layer_words(
    rows: Sequence[Sequence[tuple[str, float | None]]],
    layers: Sequence[str],
    wanted: str | None,
    axes: tuple[str, str],
    title: str = "",
) -> go.Figure:
    """Predictions of each layer: one row per layer, the last on top; the likeliest tokens from left to right, darker
    where more probable. rows: (token, probability)s of each layer, None for an unknown probability · wanted: the token
    to mark · axes: titles of y and x."""
    fig = go.Figure()
    width = max(map(len, rows))
    shapes, texts = [], []  # set all at once: adding them singly makes plotly validate all each time
    for place, row in enumerate(rows):
        for rank, (token, probability) in enumerate(row):
            right = token == wanted
            box = {"type": "rect", "x0": rank + 0.53, "x1": rank + 1.47, "y0": place - 0.44, "y1": place + 0.44}
            opacity = 0.08 + 0.5 * min(1.0, (probability or 0.0) ** 0.5)
            shapes.append({**box, "fillcolor": BLUE, "opacity": opacity, "line": {"width": 0}, "layer": "below"})
            if right:
                shapes.append({**box, "line": {"width": 3, "color": RIGHT}})
            label = literal(token if len(token) <= 12 else token[:11] + "…")
            share = "" if probability is None else f" {probability:.0%}"
            text = (f"<b>{label}</b>" if right else label) + share
            texts.append({"x": rank + 1, "y": place, "text": text, "showarrow": False, "font": {"size": FONT_SIZE}})
    fig.update_layout(shapes=shapes, annotations=texts)
    fig.add_scatter(
        x=[rank + 1 for row in rows for rank in range(len(row))],
        y=[place for place, row in enumerate(rows) for _ in row],
        mode="markers",
        marker={"size": 18, "opacity": 0},
        hovertext=[literal(token) + ("" if p is None else f": {p:.2%}") for row in rows for token, p in row],
        hoverinfo="text",
        showlegend=False,
    )
    fig.update_xaxes(
        range=[0.5, width + 0.5], tickvals=list(range(1, width + 1)), title_text=axes[1], showgrid=False, side="bottom"
    )
    fig.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[literal(name) for name in layers],
        range=[-0.6, len(rows) - 0.4],
        title_text=axes[0],
        showgrid=False,
    )
    fig.update_layout(height=42 * len(rows) + 76)
    return titled(fig, title)


def ranks(lines: Sequence[Line], layers: Sequence[str], axis: str, title: str, vocabulary: int) -> go.Figure:
    """Ranks over the layers on a logarithmic scale, 1 on top. vocabulary: its size, the worst rank."""
    fig = over_layers([Panel(title, lines)], layers, axis, columns=1)
    ticks = [10**power for power in range(6) if 10**power <= vocabulary]
    fig.update_yaxes(
        type="log",
        range=[math.log10(vocabulary * 1.2), math.log10(0.7)],
        tickvals=ticks,
        ticktext=[f"{t:,}" for t in ticks],
    )
    fig.update_traces(hovertemplate="%{fullData.name}<br>%{x}: %{y:,.0f}<extra></extra>")
    return fig
