"""Figures of encoder and decoder: a block as a circuit, attention masks, learning curves, cross-attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal, number, token_label, token_ticks
from plots.theme import BLUE, DIVERGING, FONT_SIZE, GREEN, GREY, ORANGE, SEQUENTIAL, SMALL, VERMILION, WORDS, add_marks

SELF, CROSS, UNSEEN = "self", "cross", "unseen"
LOOK = {SELF: (BLUE, "square"), CROSS: (VERMILION, "diamond"), UNSEEN: (GREY, "x-thin")}  # colour and marker
WRITTEN = 12  # grids with at most this many columns have the numbers written in their cells


# --- the block -----------------------------------------------------------------------------------------------------


def block_circuit(names: Sequence[str], notes: Sequence[str], step: int) -> go.Figure:
    """One block from bottom to top with its residual paths; the component of the current step is highlighted.

    names: of the seven components: input, attention, sum, LayerNorm, feed-forward, sum, LayerNorm · notes: text beside
    each name · step: 0 … 6. A click's customdata is the component's index. Else ValueError.
    """
    if len(names) != 7 or len(notes) != 7:
        raise ValueError("a block has seven places")
    heights = (0, 1.15, 2.05, 2.95, 4.2, 5.1, 6.0)
    half = [0.26 if place in (2, 5) else 0.31 for place in range(7)]  # half the height of a circle (sum) or a box
    fig = go.Figure()
    for place, y in enumerate(heights):  # upwards, from each component to the next
        above = heights[place + 1] - half[place + 1] if place < 6 else y + 0.75
        _wire(fig, [(0, y + half[place]), (0, above)], lit=False)
    for start, end in ((0, 2), (3, 5)):  # residual paths around attention and around the feed-forward network
        low, high = heights[start] + half[start] + 0.12, heights[end]
        _wire(fig, [(0, low), (-1.25, low), (-1.25, high), (-0.2, high)], lit=step == end)
    shapes, annotations = [], []
    for place, (name, note, y) in enumerate(zip(names, notes, heights, strict=True)):
        lit, circle = place == step, place in (2, 5)
        width = 0.2 if circle else 1.05
        shapes.append(
            {
                "type": "circle" if circle else "rect",
                **{"x0": -width, "x1": width, "y0": y - half[place], "y1": y + half[place]},
                "line": {"color": VERMILION if lit else GREY, "width": 4 if lit else 2},
                "fillcolor": "rgba(213,94,0,0.25)" if lit else "rgba(0,114,178,0.14)",
            }
        )
        texts = ((0, name, "center"), (0.35, note, "left")) if circle else ((0, f"{name} {note}", "center"),)
        for x, text, anchor in texts:
            shown = f"<b>{literal(text)}</b>" if lit else literal(text)
            annotations.append(
                {"x": x, "y": y, "text": shown, "showarrow": False, "xanchor": anchor, "font": {"size": FONT_SIZE}}
            )
    add_marks(
        fig,
        [0] * 7,
        heights,
        {"symbol": "square", "size": 40, "opacity": 0},
        customdata=list(range(7)),
        hovertext=[literal(f"{name}: {note}") for name, note in zip(names, notes, strict=True)],
        hoverinfo="text",
    )
    fig.update_layout(shapes=shapes, annotations=annotations, height=350, margin={"l": 4, "r": 4, "t": 4, "b": 4})
    fig.update_xaxes(visible=False, range=[-1.45, 1.55], fixedrange=True)
    fig.update_yaxes(visible=False, range=[-0.4, 6.8], fixedrange=True)
    return fig


def _wire(fig: go.Figure, points: Sequence[tuple[float, float]], lit: bool) -> None:
    x, y = zip(*points, strict=True)
    fig.add_scatter(
        x=x,
        y=y,
        mode="lines+markers",
        hoverinfo="skip",
        showlegend=False,
        line={"color": VERMILION if lit else GREY, "width": 4 if lit else 2},
        marker={"symbol": "arrow", "angleref": "previous", "size": [0] * (len(points) - 1) + [14], "opacity": 1},
    )


def strips(rows: dict[str, Sequence[float]], selected: int, *, height: int | None = None) -> go.Figure:
    """Vectors of the same size below each other, one cell per component, each strip with its own colour scale.

    selected: index of the framed component. A click's customdata is the index.
    """
    names = list(rows)
    fig = make_subplots(rows=len(names), cols=1, shared_xaxes=True, vertical_spacing=0.1)
    for row, (name, values) in enumerate(rows.items(), 1):
        array = np.asarray(values, dtype=float)
        top = float(np.abs(array).max()) or 1.0
        fig.add_heatmap(
            z=array[None], colorscale=DIVERGING, zmin=-top, zmax=top, showscale=False, hoverinfo="skip", row=row, col=1
        )
        add_marks(
            fig,
            list(range(array.size)),
            [0] * array.size,
            {"symbol": "square", "size": 18, "opacity": 0},
            customdata=list(range(array.size)),
            text=[number(value, 4) for value in array],
            hover=f"{literal(name)} %{{customdata}}: <b>%{{text}}</b>",
            row=row,
            col=1,
        )
        fig.add_shape(
            type="rect",
            x0=selected - 1.5,
            x1=selected + 1.5,
            y0=-0.5,
            y1=0.5,
            row=row,
            col=1,
            line={"color": "black", "width": 3},
        )
        fig.update_yaxes(tickvals=[0], ticktext=[literal(name)], ticks="", showgrid=False, row=row, col=1)
    fig.update_xaxes(visible=False)
    fig.update_layout(height=height or 40 + 62 * len(names), hoverdistance=-1, margin={"t": 8, "b": 8})
    return fig


def distribution(parts: dict[str, Sequence[float]], axis: str) -> go.Figure:
    """The distribution of each vector's components as a violin plot. parts: name → components, up to three."""
    fig = go.Figure()
    for (name, values), colour in zip(parts.items(), (BLUE, ORANGE, GREEN), strict=False):
        fig.add_violin(
            x=np.asarray(values, dtype=float),
            name=literal(name),
            orientation="h",
            side="negative",  # upwards, as the axis is reversed
            width=1.6,
            points=False,
            meanline={"visible": True, "width": 3},
            line={"color": colour, "width": 2},
            hoverinfo="skip",
            spanmode="hard",
        )
    fig.update_xaxes(title={"text": literal(axis)}, zeroline=True, zerolinecolor=GREY)
    fig.update_yaxes(autorange="reversed")
    fig.update_layout(showlegend=False, height=90 + 75 * len(parts), margin={"t": 8, "b": 8})
    return fig


# --- grids ---------------------------------------------------------------------------------------------------------


def grid(
    values,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    titles: tuple[str, str] = ("", ""),
    selected: tuple[int, int | None] | None = None,
    low: float = 0.0,
    high: float = 1.0,
    least: float = -1.0,
    height: int | None = None,
) -> go.Figure:
    """A heatmap; NaN is left blank. values: (R, C) · titles: of the columns and of the rows · low, high: of the colour
    scale · least: smaller numbers are coloured but not written.

    selected: framed (row, column), or the whole row if column is None. A click's customdata is row and column.
    """
    values = np.asarray(values, dtype=float)
    written = len(columns) <= WRITTEN
    text = [["" if np.isnan(v) or v < least else number(v, 2).replace("0.", ".", 1) for v in row] for row in values]
    fig = go.Figure(
        go.Heatmap(
            z=values,
            text=text if written else None,
            texttemplate="%{text}" if written else None,
            textfont={"size": SMALL},
            colorscale=SEQUENTIAL,
            zmin=low,
            zmax=high,
            hoverinfo="skip",
            showscale=not written,
            xgap=2,
            ygap=2,
            colorbar={"thickness": 12, "outlinewidth": 0},
        )
    )
    y, x = np.divmod(np.arange(values.size), len(columns))
    labels = [[token_label(word) for word in words] for words in (rows, columns)]
    texts = [
        f"{labels[0][i]} · {labels[1][j]}: <b>{number(values[i, j], 4)}</b>" if not np.isnan(values[i, j]) else ""
        for i, j in zip(y, x, strict=True)
    ]
    add_marks(
        fig,
        x,
        y,
        {"symbol": "square", "size": 18, "opacity": 0},
        customdata=np.stack([y, x], axis=-1),
        text=texts,
        hover="%{text}",
    )
    if selected is not None:
        row, column = selected
        first, last = (0, len(columns) - 1) if column is None else (column, column)
        box = {"type": "rect", "x0": first - 0.5, "x1": last + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        lines = [{"color": "white", "width": 7}, {"color": VERMILION, "width": 4}]
        fig.update_layout(shapes=[{**box, "line": line} for line in lines])
    fig.update_xaxes(
        **token_ticks(columns), side="top", tickangle=-50, title={"text": literal(titles[0]), "standoff": 6}
    )
    fig.update_yaxes(**token_ticks(rows), autorange="reversed", title={"text": literal(titles[1])})
    fig.update_layout(height=height or 150 + 34 * len(rows), hoverdistance=-1, margin={"t": 8, "b": 8})
    return fig


def mask_squares(words: Sequence[str], panels: dict[str, Sequence[Sequence[str]]], position: int) -> go.Figure:
    """Attention masks side by side. Row i: the positions that position i may attend to, as squares (self-attention) or
    diamonds (cross-attention); masked positions as faint crosses.

    panels: title → (N, N) of SELF, CROSS, UNSEEN. position: the highlighted row. A click's customdata: row, column.
    """
    n = len(words)
    fig = make_subplots(
        cols=len(panels),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=[literal(title).replace("\n", "<br>") for title in panels],
    )
    for panel, kinds in enumerate(panels.values(), 1):
        for kind, (colour, symbol) in LOOK.items():
            for lit in (False, True):
                cells = [(i, j) for i in range(n) for j in range(n) if kinds[i][j] == kind and (i == position) is lit]
                if not cells:
                    continue
                rows, columns = zip(*cells, strict=True)
                size = 8 if kind == UNSEEN else min(24, 120 // n) * (0.8 if kind == CROSS else 1)
                add_marks(
                    fig,
                    columns,
                    rows,
                    {
                        "color": colour,
                        "symbol": symbol,
                        "size": size,
                        "opacity": 1.0 if lit else 0.4,
                        "line": {"width": 2 if kind == UNSEEN else 0, "color": colour},
                    },
                    customdata=[list(cell) for cell in cells],
                    hovertext=[f"{token_label(words[i])} → {token_label(words[j])}" for i, j in cells],
                    hoverinfo="text",
                    row=1,
                    col=panel,
                )
        fig.add_shape(
            type="rect",
            x0=-0.55,
            x1=n - 0.45,
            y0=position - 0.5,
            y1=position + 0.5,
            line={"color": WORDS, "width": 3},
            row=1,
            col=panel,
        )
    fig.update_annotations(font={"size": FONT_SIZE})
    fig.update_layout(height=172 + 30 * n, margin={"l": 4, "r": 8, "t": 46, "b": 4})
    fig.update_xaxes(
        **token_ticks(words, position), tickangle=-55, range=[-0.6, n - 0.4], fixedrange=True, zeroline=False
    )
    fig.update_yaxes(**token_ticks(words, position), range=[n - 0.4, -0.6], fixedrange=True, zeroline=False)
    return fig


# --- the run -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learning:
    """Events of a run: (step, loss), and (step, accuracy) of words (`tokens`) and of whole sentences (`sequences`)."""

    loss: list[tuple[int, float]] = field(default_factory=list)
    tokens: list[tuple[int, float]] = field(default_factory=list)
    sequences: list[tuple[int, float]] = field(default_factory=list)

    @classmethod
    def of(cls, events: Sequence[dict]) -> Learning:
        seen = cls()
        for event in events:
            if event["event"] == "step":
                seen.loss.append((event["step"], event["loss"]))
            elif event["event"] == "eval":
                seen.tokens.append((event["step"], event["metrics"]["token_accuracy"]))
                seen.sequences.append((event["step"], event["metrics"]["sequence_accuracy"]))
        return seen


def learning(curves: Learning, titles: tuple[str, str, str], names: tuple[str, str], steps: int) -> go.Figure:
    """Loss and accuracies over steps. titles: of the two panels and the x axis · names: of the accuracy lines."""
    fig = make_subplots(rows=1, cols=2, subplot_titles=[literal(title) for title in titles[:2]], horizontal_spacing=0.1)
    lines = (
        (curves.loss, BLUE, "solid", titles[0], 1, "%{y:.3f}"),
        (curves.tokens, GREY, "dot", names[0], 2, "%{y:.1%}"),
        (curves.sequences, BLUE, "solid", names[1], 2, "%{y:.1%}"),
    )
    for points, colour, dash, name, column, shape in lines:
        fig.add_scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            name=literal(name),
            showlegend=column == 2,
            mode="lines" if column == 1 else "lines+markers",
            line={"color": colour, "dash": dash, "width": 3.5},
            marker={"size": 8},
            hovertemplate=f"%{{x}}: <b>{shape}</b><extra></extra>",
            row=1,
            col=column,
        )
    fig.add_hline(y=0.99, line={"color": GREEN, "dash": "dash", "width": 1.5}, row=1, col=2)
    fig.update_xaxes(title={"text": literal(titles[2])}, range=[0, steps])
    fig.update_yaxes(rangemode="tozero", row=1, col=1)
    fig.update_yaxes(tickformat=".0%", range=[0, 1.04], row=1, col=2)
    fig.update_layout(
        height=360, legend={"orientation": "h", "y": -0.24, "x": 0.55}, margin={"t": 40}, uirevision="learning"
    )
    return fig


def next_words(words: Sequence[str], probs: Sequence[float], *, height: int | None = None) -> go.Figure:
    """Bars of the likeliest words, the first on top and in another colour."""
    fig = go.Figure(
        go.Bar(
            y=list(range(len(words))),
            x=list(probs),
            orientation="h",
            marker={"color": [VERMILION, *[BLUE] * (len(words) - 1)]},
            text=[f"{p:.1%}" if p >= 0.001 else "< 0.1%" for p in probs],
            textposition="outside",
            cliponaxis=False,
            textfont={"size": FONT_SIZE},
            hoverinfo="skip",
        )
    )
    fig.update_yaxes(**token_ticks(words), autorange="reversed")
    fig.update_xaxes(visible=False, range=[0, 1.5])
    fig.update_layout(height=height or 40 + 40 * len(words), bargap=0.3, margin={"t": 8, "b": 8})
    return fig
