"""Shares with their intervals, one a way of hiding."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from plots.theme import PALETTE


def shares(rows: Mapping[str, tuple[float, float, float]], axis: str) -> go.Figure:
    """rows: name → (share, its interval's low and high end), the first on top · axis: what the shares are of."""
    names = list(rows)
    values = [share for share, _, _ in rows.values()]
    fig = go.Figure(
        go.Bar(
            x=values,
            y=names,
            orientation="h",
            marker_color=PALETTE[0],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [high - share for share, _, high in rows.values()],
                "arrayminus": [share - low for share, low, _ in rows.values()],
            },
            text=[f"{value:.0%}" for value in values],
            textposition="inside",
            insidetextanchor="start",
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    )
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(title=axis, tickformat=".0%", range=[0, 1])
    fig.update_layout(height=80 + 46 * len(names), margin={"l": 10, "r": 10, "t": 40, "b": 40})
    return fig


def differences(tables: Mapping[str, Mapping[str, float]], axis: str) -> go.Figure:
    """tables: name → task → points, below zero for worse. Bars of one table stand together; pattern and colour tell
    them apart."""
    fig = go.Figure()
    for number, (name, gaps) in enumerate(tables.items()):
        fig.add_bar(
            x=list(gaps.values()),
            y=[f"{name} · {task}" for task in gaps],
            orientation="h",
            name=name,
            marker={"color": PALETTE[number], "pattern": {"shape": "/" if number else ""}},
            text=[f"{value:+.1f}".replace("-", "−") for value in gaps.values()],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:+.1f}<extra></extra>",
        )
    values = [value for gaps in tables.values() for value in gaps.values()]
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(title=axis, range=[min(values) - 2, max(values) + 1.5], zeroline=True)
    fig.update_layout(height=110 + 30 * len(values), showlegend=False, margin={"l": 10, "r": 30, "t": 40, "b": 40})
    return fig
