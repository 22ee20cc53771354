"""Options of fine-tuning in figures: the spread of a loss under dropout masks, and the terms of a sum of losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.theme import BLUE, ORANGE, SMALL


def loss_spread(groups: Mapping[str, Sequence[float]], axis: str) -> go.Figure:
    """A row each: the losses as dots, spread over the row's height, and a line at their mean."""
    fig = go.Figure()
    for row, ((_name, values), colour) in enumerate(zip(groups.items(), (ORANGE, BLUE), strict=False)):
        heights = [row + 0.3 * ((7 * i % 11) / 5 - 1) for i in range(len(values))]
        fig.add_scatter(
            x=list(values), y=heights, mode="markers", showlegend=False,
            marker={"size": 8, "color": colour, "opacity": 0.55}, hovertemplate="%{x:.4f}<extra></extra>",
        )  # fmt: skip
        mean = sum(values) / len(values)
        fig.add_scatter(
            x=[mean, mean], y=[row - 0.42, row + 0.42], mode="lines", showlegend=False,
            line={"color": colour, "width": 4}, hovertemplate="%{x:.4f}<extra></extra>",
        )  # fmt: skip
    fig.update_yaxes(
        tickvals=list(range(len(groups))), ticktext=list(groups), range=[len(groups) - 0.5, -0.5], showgrid=False
    )
    fig.update_xaxes(title_text=axis)
    fig.update_layout(height=130 + 80 * len(groups))
    return fig


def loss_sum(terms: Mapping[str, float], axis: str) -> go.Figure:
    """One bar, its parts side by side."""
    fig = go.Figure()
    for (name, value), colour in zip(terms.items(), (BLUE, ORANGE), strict=False):
        fig.add_bar(
            x=[value], y=[""], orientation="h", name=name, marker={"color": colour}, text=[f"{value:.3f}"],
            textposition="inside", textfont={"size": SMALL}, insidetextanchor="middle",
            hovertemplate="%{x:.4f}<extra></extra>",
        )  # fmt: skip
    fig.update_xaxes(title_text=axis, rangemode="tozero")
    fig.update_yaxes(showticklabels=False)
    fig.update_layout(
        height=200,
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "y": 1.05, "yanchor": "bottom", "x": 0},
    )
    return fig
