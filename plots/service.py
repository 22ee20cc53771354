"""Figures of the service: duration of each stage of a request, and requests per second, singly and batched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.marks import LEGEND_ABOVE
from plots.theme import BLUE, FONT_SIZE, GREY, SMALL, titled


def rates(
    clients: Sequence[int], results: Mapping[str, Sequence[float]], clients_axis: str, axis: str, title: str = ""
) -> go.Figure:
    """Requests per second by number of clients. results: method → one rate per number; the first method is the
    baseline, drawn in grey."""
    fig = go.Figure()
    names = [str(n) for n in clients]
    for (name, values), colour, shape in zip(results.items(), (GREY, BLUE), ("/", ""), strict=False):
        fig.add_bar(
            x=names,
            y=list(values),
            name=name,
            marker={"color": colour, "pattern": {"shape": shape}},
            text=[f"{value:,.0f}" for value in values],
            textposition="outside",
            textfont={"size": SMALL},
            cliponaxis=False,
            hovertemplate="%{x}: %{y:,.1f}<extra></extra>",
        )
    highest = max((value for values in results.values() for value in values), default=1.0)
    fig.update_xaxes(title_text=clients_axis, type="category")
    fig.update_yaxes(title_text=axis, range=[0, highest * 1.15])
    fig.update_layout(height=360, barmode="group", showlegend=True, legend=LEGEND_ABOVE)
    return titled(fig, title)


def request_stages(
    stages: Mapping[str, tuple[float, float]], title: str, axis: str, height: int, unit: str = "ms"
) -> go.Figure:
    """Timeline of one request, one row per stage, the first on top.

    stages: name → (start in ms after sending the request, duration in ms); the longest is in colour.
    """
    longest = max(stages, key=lambda name: stages[name][1])
    total = max(at + took for at, took in stages.values())
    fig = go.Figure()
    for name, (at, took) in stages.items():
        fig.add_bar(
            y=[name],
            x=[took],
            base=[at],
            orientation="h",
            showlegend=False,
            width=0.13 * len(stages),
            marker={"color": BLUE if name == longest else GREY, "pattern": {"shape": "" if name == longest else "/"}},
            hovertemplate=f"{name}: {took:.2f} {unit}<extra></extra>",
        )
    # The duration is written with the name, as there is no room beside a bar that ends at the edge.
    numbered = [f"{n} · {name}<br><b>{took:.2f} {unit}</b>" for n, (name, (_at, took)) in enumerate(stages.items(), 1)]
    fig.update_yaxes(
        categoryorder="array",
        categoryarray=list(stages)[::-1],
        tickvals=list(stages),
        ticktext=numbered,
        showgrid=False,
        tickfont={"size": FONT_SIZE},
    )
    fig.update_xaxes(title_text=axis, range=[0, 1.02 * total])
    fig.update_layout(height=height, margin_r=16)
    return titled(fig, title)
