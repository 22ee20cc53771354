"""Figures of self-attention: one head's matrices, the arithmetic of a cell, all heads, compared word probabilities.

Cells of matrices can be clicked: a plotly heatmap sends no clicks, so an invisible square marker lies on every cell,
and its `customdata` says which one. Rows attend to columns. Tokens are escaped: never interpreted as markup.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.grammar import ATTENTION
from plots.theme import BLUE, DIVERGING, FONT_SIZE, GREY, SMALL, VERMILION, columns

TOKEN_WIDTH = 12  # maximum width of a token's label, in character columns
NUMBERED = 11  # matrices with at most this many rows and columns have the numbers written in their cells
MINUS = "−"


def token_label(token: str, bold: bool = False) -> str:
    """A token as an axis label: short, and literal in plotly's pseudo-HTML."""
    text = cut(token, TOKEN_WIDTH)
    return f"<b>{text}</b>" if bold else text


def cut(text: str, most: int) -> str:
    """The text in at most `most` columns, of which a Chinese character takes two, and an ellipsis; `literal`."""
    shown, width = [], 0
    for char in text:
        width += columns(char)
        if width > most:
            shown.append("…")
            break
        shown.append(char)
    return literal("".join(shown))


def _room(tokens: Sequence[str]) -> int:
    """Width in pixels of an axis's longest label. Setting the margin explicitly saves plotly a second layout pass."""
    return 12 + 9 * min(TOKEN_WIDTH + 1, max(map(columns, tokens)))


def literal(text: str) -> str:
    """The text escaped so that plotly shows exactly this. (Its pseudo-HTML knows &lt; but not &quot;.)"""
    return html.escape(text, quote=False)


def number(value: float, decimals: int = 2) -> str:
    """A number with a typographic minus sign; infinities as ∞ and −∞; no minus before zero."""
    if np.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def _colours(kind: str, values: np.ndarray) -> dict:
    """Colour scale of a matrix: diverging around 0 for "scores" and "vectors", 0 … 1 for "probs"."""
    finite = values[np.isfinite(values)]
    top = float(np.abs(finite).max()) if finite.size else 1.0
    top = top or 1.0
    if kind == "probs":
        return dict(ATTENTION)
    return {"colorscale": DIVERGING, "zmin": -top, "zmax": top}


def _cells(values: np.ndarray, tag: Sequence[int] = (), **options) -> go.Scatter:
    """Invisible squares to click, one per cell. customdata: (*tag, row, column, value)."""
    y, x = np.divmod(np.arange(values.size), values.shape[1])
    unseen = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"symbol": "square", "size": 14, "opacity": 0},
        selected=unseen,
        unselected=unseen,
        customdata=np.stack([*(np.full_like(x, number) for number in tag), y, x, values.ravel()], axis=-1),
        showlegend=False,
        **options,
    )


def _outline(row: float, column: float, height: float = 1, width: float = 1, **axes) -> list[dict]:
    """Black and white frame, visible on any colour, around height × width cells whose first is (row, column)."""
    box = {"x0": column - 0.5, "x1": column - 0.5 + width, "y0": row - 0.5, "y1": row - 0.5 + height, "type": "rect"}
    return [{**box, **axes, "line": {"color": colour, "width": wide}} for colour, wide in (("white", 7), ("black", 3))]


def token_ticks(tokens: Sequence[str], selected: int | None = None) -> dict:
    """An axis of tokens; the selected one is bold."""
    labels = [token_label(token, bold=index == selected) for index, token in enumerate(tokens)]
    return {"tickvals": list(range(len(tokens))), "ticktext": labels, "showgrid": False, "ticks": ""}


def _height(rows: int) -> int:
    """Height of a matrix in pixels, constant for short sentences, so that stepping does not make the page jump."""
    return max(470, 120 + 20 * rows)


def attention_matrix(
    tokens: Sequence[str],
    values,
    *,
    kind: str = "probs",
    selected: tuple[int, int] | None = None,
    axes: str = "from ↓ · to →",
    scale: float | None = None,
    height: int | None = None,
) -> go.Figure:
    """A T × T matrix: row i holds the values of token i's query. values: (T, T); −∞ is drawn as a masked cell.

    kind: "probs" (0 … 1) or "scores" (signed). selected: the framed (row, column). scale: value of the strongest
    colour; by default 1 for probs, the largest |score| for scores. A click's customdata begins with row and column.
    """
    values = np.asarray(values, dtype=float)
    size = len(tokens)
    closed = np.isneginf(values)
    colours = _colours(kind, values)
    if scale is not None:
        colours |= {"zmax": scale, "zmin": 0.0 if kind == "probs" else -scale}
    written = size <= NUMBERED
    decimals = 2 if kind == "probs" else 1 if colours["zmax"] < 10 else 0

    def short(value: float) -> str:
        return number(value, decimals).replace("0.", ".", 1) if abs(value) < 1 else number(value, decimals)

    fig = go.Figure(
        go.Heatmap(
            z=np.where(closed, np.nan, values),
            text=[[short(v) if np.isfinite(v) else "" for v in row] for row in values] if written else None,
            texttemplate="%{text}" if written else None,
            textfont={"size": SMALL},
            hoverinfo="skip",
            showscale=not written,
            colorbar={
                "orientation": "h",
                "y": 0,
                "yanchor": "top",
                "thickness": 10,
                "outlinewidth": 0,
                "tickfont": {"size": SMALL},
            },
            xgap=1,
            ygap=1,
            **colours,
        )
    )
    labels = [token_label(token) for token in tokens]
    texts = [f"{labels[i]} → {labels[j]}: <b>{number(values[i, j], 4)}</b>" for i in range(size) for j in range(size)]
    cells = _cells(values, text=texts, hovertemplate="%{text}<extra></extra>")
    fig.add_trace(cells)
    shapes = [
        {
            "type": "rect",
            "x0": j - 0.5,
            "x1": j + 0.5,
            "y0": -0.5,
            "y1": size - 0.5,
            "line": {"width": 0},
            "fillcolor": GREY,
            "opacity": 0.35,
            "layer": "below",
        }
        for j in np.flatnonzero(closed.all(0))
    ]
    if selected is not None:
        shapes += _outline(*selected)
    notes = {"text": f"{MINUS}∞", "showarrow": False, "font": {"size": FONT_SIZE}}
    if written:
        fig.update_layout(annotations=[{**notes, "x": j, "y": i} for i, j in np.argwhere(closed)])
    row, column = selected if selected is not None else (None, None)
    # Labels rotated by 60° need 0.87 of their length in height; above them is the axis title, below the colour bar.
    margin = {"l": _room(tokens), "t": 44 + round(0.87 * _room(tokens)), "b": 8 if written else 36}
    fig.update_layout(shapes=shapes, height=height or _height(size), hoverdistance=-1, margin=margin)
    fig.update_xaxes(**token_ticks(tokens, column), side="top", tickangle=-60, title={"text": axes, "standoff": 4})
    fig.update_yaxes(**token_ticks(tokens, row), autorange="reversed")
    fig.update_layout(xaxis_automargin=False, yaxis_automargin=False)
    return fig


def vectors(
    tokens: Sequence[str],
    panels: Mapping[str, object],
    *,
    selected: tuple[int, int, int] | None = None,
    height: int | None = None,
) -> go.Figure:
    """Matrices with a vector for each token, side by side. panels: title → (T, D).

    selected: (panel, row, column), each from 0. A click's customdata begins with panel, row and column.
    """
    arrays = [np.asarray(panel, dtype=float) for panel in panels.values()]
    fig = make_subplots(cols=len(arrays), shared_yaxes=True, horizontal_spacing=0.02, subplot_titles=list(panels))
    colours = _colours("vectors", np.concatenate(arrays))
    size = len(tokens)
    labels = [token_label(token) for token in tokens]
    for index, (title, array) in enumerate(zip(panels, arrays, strict=True)):
        last = index == len(arrays) - 1
        fig.add_trace(
            go.Heatmap(
                z=array,
                hoverinfo="skip",
                showscale=last,
                colorbar={"thickness": 12, "outlinewidth": 0, "tickfont": {"size": SMALL}, "len": 0.9},
                ygap=2,
                **colours,
            ),
            row=1,
            col=index + 1,
        )
        hover = f"%{{text}}: <b>%{{customdata[3]:.4f}}</b><extra>{literal(title)}</extra>"
        cells = _cells(array, (index,), text=np.repeat(labels, array.shape[1]), hovertemplate=hover)
        fig.add_trace(cells, row=1, col=index + 1)
    fig.update_annotations(font={"size": 18})
    row = None
    if selected is not None:
        panel, row, column = selected
        axes = {"xref": f"x{panel + 1 if panel else ''}", "yref": f"y{panel + 1 if panel else ''}"}
        # A frame three cells wide: a single cell is too narrow to be visible.
        fig.update_layout(shapes=_outline(row, column - 1, width=3, **axes))
    margin = {"l": _room(tokens), "t": 40, "b": 8}
    fig.update_layout(height=height or _height(size), hoverdistance=-1, margin=margin)
    fig.update_xaxes(tickvals=[], showgrid=False, automargin=False)
    fig.update_yaxes(autorange="reversed", showgrid=False, ticks="", automargin=False)
    fig.update_yaxes(**token_ticks(tokens, row), col=1)
    return fig


def dot_product(left, right, names: tuple[str, str, str], *, height: int = 360) -> go.Figure:
    """A dot product term by term: the two vectors as strips, and under them a bar for every product.

    left, right: (N,). names: of the left strip, the right strip and the products (plain text).
    """
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    products = left * right
    where = np.arange(1, len(left) + 1)
    strips = [
        {
            "type": "heatmap",
            "z": strip[None],
            "x": where,
            "yaxis": f"y{row}",
            "showscale": False,
            "hovertemplate": "%{x}: %{z:.4f}<extra></extra>",
            **_colours("vectors", strip),
        }
        for row, strip in ((2, right), (3, left))
    ]
    bars = {
        "type": "bar",
        "x": where,
        "y": products,
        "marker": {"color": np.where(products < 0, BLUE, VERMILION).tolist(), "line": {"width": 0}},
        "customdata": np.stack([left, right], axis=-1),
        "hovertemplate": "%{x}: %{customdata[0]:.4f} × %{customdata[1]:.4f} = <b>%{y:.4f}</b><extra></extra>",
    }
    strip_axis = {"tickvals": [0], "ticks": "", "showgrid": False}
    layout = {
        "yaxis": {
            "domain": [0, 0.66],
            "title": {"text": literal(names[2])},
            "zeroline": True,
            "zerolinecolor": GREY,
        },
        "yaxis2": {"domain": [0.72, 0.83], "ticktext": [literal(names[1])], **strip_axis},
        "yaxis3": {"domain": [0.89, 1], "ticktext": [literal(names[0])], **strip_axis},
        "xaxis": {"showgrid": False, "nticks": 8},
        "height": height,
        "bargap": 0.15,
        "showlegend": False,
        "margin": {"t": 8, "b": 8},
    }
    return go.Figure([bars, *strips], layout)


def token_bars(
    tokens: Sequence[str],
    lengths,
    texts: Sequence[str],
    *,
    selected: int | None = None,
    height: int | None = None,
) -> go.Figure:
    """One bar per token with its arithmetic written beside it. lengths: (T,) · texts: plain text, one per token."""
    lengths = np.asarray(lengths, dtype=float)
    span = max(float(np.abs(lengths).max()), 1e-12)
    low = -span if (lengths < 0).any() else 0.0
    fig = go.Figure(
        go.Bar(
            y=list(range(len(tokens))),
            x=lengths,
            orientation="h",
            marker={
                "color": np.where(lengths < 0, BLUE, VERMILION),
                "opacity": [1.0 if selected in (None, index) else 0.55 for index in range(len(tokens))],
                "line": {"width": 0},
            },
            hovertext=[f"{token_label(token)}: {literal(text)}" for token, text in zip(tokens, texts, strict=True)],
            hoverinfo="text",
        )
    )
    written = {
        "x": 1.0,
        "xref": "paper",
        "xanchor": "right",
        "showarrow": False,
        "font": {"size": SMALL if len(tokens) > NUMBERED else FONT_SIZE},
    }
    labels = [f"<b>{literal(text)}</b>" if i == selected else literal(text) for i, text in enumerate(texts)]
    fig.update_layout(annotations=[{**written, "y": index, "text": text} for index, text in enumerate(labels)])
    # Leave the right half of the picture free for the arithmetic.
    fig.update_xaxes(range=[low * 1.02, span * (2.8 if low == 0 else 3.8)], visible=False)
    fig.update_yaxes(**token_ticks(tokens, selected), autorange="reversed", automargin=False)
    fig.update_layout(
        height=height or 30 + max(22, min(34, 700 // len(tokens))) * len(tokens),
        bargap=0.25,
        margin={"l": _room(tokens), "t": 8, "b": 8},
    )
    if low < 0:
        fig.add_vline(x=0, line={"color": GREY, "width": 1})
    return fig


def all_heads(
    probs, *, selected: tuple[int, int] | None = None, names: tuple[str, str] = ("layer", "head")
) -> go.Figure:
    """Every head as a small matrix: one row per layer, one column per head. probs: (L, A, T, T), on one colour scale.
    As high as makes them nearly square in half a page.

    A click's customdata is (layer, head), both from 0; labels count from 1.
    """
    probs = np.asarray(probs, dtype=float)
    layers, heads, size, _ = probs.shape
    gap = max(1, round(size / 8))
    step = size + gap
    picture = np.full((layers * step - gap, heads * step - gap), np.nan)
    for layer in range(layers):
        for head in range(heads):
            y, x = layer * step, head * step
            picture[y : y + size, x : x + size] = probs[layer, head]
    fig = go.Figure(
        go.Heatmap(
            z=picture,
            hoverinfo="skip",
            **ATTENTION,
            colorbar={"thickness": 12, "outlinewidth": 0, "tickfont": {"size": SMALL}},
        )
    )
    centre = (size - 1) / 2
    where = [(layer, head) for layer in range(layers) for head in range(heads)]
    unseen = {"marker": {"opacity": 0}}
    fig.add_trace(
        go.Scatter(
            x=[head * step + centre for _, head in where],
            y=[layer * step + centre for layer, _ in where],
            mode="markers",
            marker={"symbol": "square", "size": 30, "opacity": 0},
            selected=unseen,
            unselected=unseen,
            customdata=[list(at) for at in where],
            text=[f"{names[0]} {layer + 1}, {names[1]} {head + 1}" for layer, head in where],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
    )
    if selected is not None:
        layer, head = selected
        fig.update_layout(shapes=_outline(layer * step, head * step, size, size))
    # With one marker per matrix, a click anywhere selects the nearest.
    height = 80 + layers * max(40, round(320 / heads))
    fig.update_layout(height=min(height, 620), hoverdistance=-1, margin={"t": 8, "b": 8})
    for update, count, chosen, name in (
        (fig.update_xaxes, heads, selected and selected[1], names[1]),
        (fig.update_yaxes, layers, selected and selected[0], names[0]),
    ):
        labels = [f"<b>{name} {n + 1}</b>" if n == chosen else f"{name} {n + 1}" for n in range(count)]
        if count > 6:
            labels = [f"<b>{n + 1}</b>" if n == chosen else f"{n + 1}" for n in range(count)]
        update(tickvals=[n * step + centre for n in range(count)], ticktext=labels, showgrid=False, ticks="")
        if count > 6:
            update(title={"text": name})
    fig.update_xaxes(side="top", tickangle=0)
    fig.update_yaxes(autorange="reversed")
    return fig


def compared_words(
    words: Sequence[str], before, after, names: tuple[str, str], *, xaxis: str = "", height: int | None = None
) -> go.Figure:
    """Probabilities of the same words in the intact and the changed model: two bars per word. before, after: (N,)."""
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    fig = go.Figure()
    for values, name, colour, pattern in ((before, names[0], BLUE, ""), (after, names[1], VERMILION, "/")):
        fig.add_bar(
            y=list(range(len(words))),
            x=values,
            orientation="h",
            name=literal(name),
            marker={
                "color": colour,
                "pattern": {"shape": pattern, "fgcolor": "white", "size": 6, "fillmode": "overlay"},
            },
            text=[f"{value:.1%}" for value in values],
            textposition="outside",
            textfont={"size": SMALL},
            cliponaxis=False,
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        )
    top = max(before.max(), after.max())
    fig.update_xaxes(range=[0, top * 1.2], tickformat=".0%", nticks=5, title={"text": literal(xaxis)})
    fig.update_yaxes(**token_ticks(words), autorange="reversed")
    fig.update_layout(
        height=height or 110 + 52 * len(words),
        barmode="group",
        bargap=0.3,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        margin={"t": 44, "b": 8},
    )
    return fig
