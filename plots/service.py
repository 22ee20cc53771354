"""The service in figures: what each part of it takes, and answers a second, one by one and in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.theme import BLUE, FONT_SIZE, GREY, SMALL, titled


def rates(
    clients: Sequence[int], found: Mapping[str, Sequence[float]], clients_word: str, axis: str, title: str = ""
) -> go.Figure:
    """found: way → answers a second for each number of clients; the first way is the plain one · title: what it
    shows."""
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
    return titled(fig, title)


def request_stages(stages: Mapping[str, tuple[float, float]], title: str, axis: str, height: int) -> go.Figure:
    """One request, a row a part of the service, the first on top: each bar begins where the one before ends.

    stages: name → (ms since the request was sent, ms it took); the longest stands out · title: what it shows.
    """
    longest = max(stages, key=lambda name: stages[name][1])
    total = max(at + took for at, took in stages.values())
    fig = go.Figure()
    for name, (at, took) in stages.items():
        fig.add_bar(
            y=[name], x=[took], base=[at], orientation="h", showlegend=False, text=[f"{took:.2f} ms"],
            textposition="outside", textfont={"size": FONT_SIZE}, cliponaxis=False,
            marker={"color": BLUE if name == longest else GREY, "pattern": {"shape": "" if name == longest else "/"}},
            hovertemplate=f"{name}: {took:.2f} ms<extra></extra>",
        )  # fmt: skip
    numbered = [f"{number} · {name}" for number, name in enumerate(stages, 1)]
    fig.update_yaxes(
        categoryorder="array", categoryarray=list(stages)[::-1], tickvals=list(stages), ticktext=numbered,
        showgrid=False, tickfont={"size": FONT_SIZE},
    )  # fmt: skip
    fig.update_xaxes(title_text=axis, range=[0, 1.18 * total])
    fig.update_layout(height=height, bargap=0.35, margin_r=16)
    return titled(fig, title)
