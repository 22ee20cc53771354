"""Figure of the paths from words to a position in a CNN, ELMo, GPT and BERT (Devlin et al. 2019, Fig. 3).

A node's colour and shape show what it depends on: words to its left (and its own), words to its right (and its own),
or both together.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from minibert.inside.heads.visibility import Node, nodes, output, paths, reads
from plots.attention import literal
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, ORANGE, apply

MAX_WORDS = 12  # more words are illegible at half a page's width

_LOOK = {  # `Node.knows`: what a node depends on → colour, marker
    "word": (GREY, "circle"),
    "left": (BLUE, "circle"),
    "right": (ORANGE, "diamond"),
    "both": (GREEN, "square"),
    "halves": (GREY, "square"),  # drawn as a left and a right half, side by side
}
_SHIFT = {"left": -0.16, "right": 0.16}  # ELMo's two networks are side by side at a position


def visibility(words: Sequence[str], position: int, model: str) -> go.Figure:
    """The model over `words`; everything that its output at `position` depends on is drawn strongly, the rest faintly.

    Every point's `customdata` is its position, which identifies a clicked word. Raises ValueError for more than
    MAX_WORDS words.
    """
    n = len(words)
    if n > MAX_WORDS:
        raise ValueError(f"{n} words are too many to draw; at most {MAX_WORDS}")
    top = output(model, position)
    used = set(paths(model, top, n))
    everything = nodes(model, n)
    fig = go.Figure()
    lines = [(source, node) for node in everything for source in reads(model, node, n)]
    _edges(fig, [edge for edge in lines if edge[1] not in used], model, "rgba(138,143,152,0.22)", 1)
    for knows in ("left", "right", "both"):
        inner = [edge for edge in lines if edge[1] in used and edge[1] != top and edge[1].knows == knows]
        _edges(fig, inner, model, _LOOK[knows][0], 1.5, opacity=0.45)
    for source in reads(model, top, n):
        knows = source.knows if top.knows == "halves" else top.knows
        _edges(fig, [(source, top)], model, _LOOK[knows][0], 3)

    for knows in _LOOK:
        for active in (False, True):
            group = [node for node in everything if node.knows == knows and (node in used) is active]
            for look, push in (("left", -1), ("right", 1)) if knows == "halves" else ((knows, 0),):
                _points(fig, group, model, look, push, active, top, words)
    seen = {node.position for node in used if node.layer == 0}
    fig.update_xaxes(
        tickvals=list(range(n)),
        ticktext=[_word(word, j in seen, j == position) for j, word in enumerate(words)],
        range=[-0.6, n - 0.4],
        showgrid=False,
        fixedrange=True,
        ticks="",
        ticklabeloverflow="allow",
        tickfont={"size": FONT_SIZE},
    )
    fig.update_yaxes(visible=False, range=[-0.35, 3.35], fixedrange=True)
    fig.update_layout(height=330, margin={"l": 16, "r": 16, "t": 4, "b": 4}, hovermode="closest")
    return apply(fig)


def _word(word: str, seen: bool, chosen: bool) -> str:
    """Label of a word, escaped: bold and underlined if chosen, struck through if not visible to the output."""
    shown = literal(word if len(word) <= 9 else word[:8] + "…")
    if chosen:
        return f"<b><u>{shown}</u></b>"
    return shown if seen else f'<span style="color:{GREY}"><s>{shown}</s></span>'


def _place(node: Node, model: str) -> tuple[float, float]:
    """Position of a node; ELMo has an extra output above its layers, so that its rows are closer together."""
    shift = _SHIFT.get(node.knows, 0.0) if model == "ELMo" else 0.0
    return node.position + shift, node.layer * (1.0 if model == "ELMo" else 1.5)


def _points(
    fig: go.Figure, group: list[Node], model: str, look: str, push: int, active: bool, top: Node, words: Sequence[str]
) -> None:
    """Nodes of one look as one trace. push: −1 or 1 shifts them by half their width to the left or right."""
    if not group:
        return
    colour, symbol = _LOOK[look]
    if push:
        symbol = "square"
    size = [(24 if node == top else 16 if active else 12) * (0.7 if push else 1) for node in group]
    x, y = zip(*(_place(node, model) for node in group), strict=True)
    fig.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={
            "symbol": symbol if active else f"{symbol}-open",
            "size": size,
            "color": colour if active else GREY,
            "opacity": 1 if active else 0.55,
            "line": {"width": 1.5},
            "angle": -90 * push,
            "standoff": [push and each / 2 for each in size],
        },
        customdata=[node.position for node in group],
        hovertext=[literal(words[node.position]) for node in group],
        hoverinfo="text",
        showlegend=False,
    )


def _edges(fig: go.Figure, lines: Sequence[tuple[Node, Node]], model: str, colour: str, width: float, **look) -> None:
    """All lines of one look as one trace."""
    if not lines:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    for source, node in lines:
        (x0, y0), (x1, y1) = _place(source, model), _place(node, model)
        x += [x0, x1, None]
        y += [y0, y1, None]
    fig.add_scatter(
        x=x, y=y, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip", showlegend=False, **look
    )
