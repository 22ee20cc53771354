"""The service in figures: answers a second, one by one and in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.theme import BLUE, GREY, SMALL


def rates(clients: Sequence[int], found: Mapping[str, Sequence[float]], clients_word: str, axis: str) -> go.Figure:
    """found: way → answers a second for each number of clients; the first way is the plain one."""
    fig = go.Figure()
    names = [clients_word.format(n=n) for n in clients]
    for (name, values), colour, shape in zip(found.items(), (GREY, BLUE), ("/", ""), strict=False):
        fig.add_bar(
            x=names, y=list(values), name=name, marker={"color": colour, "pattern": {"shape": shape}},
            text=[f"{value:,.0f}" for value in values], textposition="outside", textfont={"size": SMALL},
            cliponaxis=False, hovertemplate="%{x}: %{y:,.1f}<extra></extra>",
        )  # fmt: skip
    highest = max((value for values in found.values() for value in values), default=1.0)
    fig.update_yaxes(title_text=axis, range=[0, highest * 1.15])
    fig.update_layout(
        height=360, barmode="group", showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return fig
