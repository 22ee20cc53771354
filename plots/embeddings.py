"""Figure of vectors in a plane: all layers side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal
from plots.theme import FONT_SIZE, PALETTE, titled

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
COLUMNS = 5


def side_by_side(
    layouts: Sequence[Sequence[Sequence[float]]],
    layers: Sequence[str],
    groups: Sequence[str],
    of: Sequence[int],
    titles: Sequence[str],
    own: int | None = None,
    title: str = "",
) -> go.Figure:
    """One small scatter plot per layer, all on one scale. layouts: (layers, N, 2) · groups: their names; of: group
    index of each point; own: the group drawn as stars · titles: hover text of each point."""
    columns = min(COLUMNS, len(layouts))
    rows = math.ceil(len(layouts) / columns)
    fig = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[literal(name) for name in layers],
        horizontal_spacing=0.015,
        vertical_spacing=min(0.12, 0.2 / rows),
    )
    fig.update_annotations(font_size=FONT_SIZE, yshift=4)
    reach = float(np.abs(np.asarray(layouts)).max()) * 1.1 or 1.0
    members = [[i for i, group in enumerate(of) if group == number] for number in range(len(groups))]
    for place, points in enumerate(layouts):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        for number, name in enumerate(groups):
            fig.add_scatter(
                x=[points[i][0] for i in members[number]],
                y=[points[i][1] for i in members[number]],
                mode="markers",
                name=literal(name),
                legendgroup=str(number),
                showlegend=place == 0 and bool(members[number]),
                marker={"color": PALETTE[number % len(PALETTE)], "symbol": symbol(number, own), "size": 8},
                hovertext=[literal(titles[i]) for i in members[number]],
                hoverinfo="text",
                **at,
            )
        fig.update_xaxes(range=[-reach, reach], showticklabels=False, showgrid=False, mirror=True, showline=True, **at)
        fig.update_yaxes(range=[-reach, reach], showticklabels=False, showgrid=False, mirror=True, showline=True, **at)
    fig.update_xaxes(linecolor="rgba(138,143,152,0.6)")
    fig.update_yaxes(linecolor="rgba(138,143,152,0.6)")
    fig.update_layout(
        height=225 * rows + 110,
        margin={"t": 40},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
    )
    return titled(fig, title)


def symbol(group: int, own: int | None) -> str:
    return "star" if group == own else SYMBOLS[(group + group // len(PALETTE)) % len(SYMBOLS)]
