"""Options of fine-tuning in figures: the spread of a loss under dropout masks, the terms of a sum of losses, and what
the mean of the weights answers."""

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


def two_answers(
    last: Sequence[float], mean: Sequence[float], names: tuple[str, str], axes: tuple[str, str]
) -> go.Figure:
    """A probability after each step, by the last weights and by their mean. axes: of the steps, of the probability."""
    fig = go.Figure()
    steps = list(range(1, len(last) + 1))
    for values, name, colour, width, mode in (
        (last, names[0], ORANGE, 2, "lines+markers"),
        (mean, names[1], BLUE, 5, "lines"),
    ):
        fig.add_scatter(
            x=steps, y=list(values), mode=mode, name=name, marker={"size": 7}, line={"color": colour, "width": width},
            hovertemplate="%{x}: %{y:.3f}<extra></extra>",
        )  # fmt: skip
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], range=[0, 1.02])
    fig.update_layout(height=380, showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return fig


def step_shares(shares: Sequence[float], axes: tuple[str, str]) -> go.Figure:
    """What each step counts in a mean. axes: of the steps, of the shares."""
    fig = go.Figure()
    fig.add_bar(
        x=list(range(1, len(shares) + 1)), y=list(shares), marker={"color": BLUE}, showlegend=False,
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
    )  # fmt: skip
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], tickformat=".0%", rangemode="tozero")
    fig.update_layout(height=380)
    return fig
