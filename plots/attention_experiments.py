"""Figures of experiments on attention: ablations, cost, parallelism against recurrence, weight against effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal, token_ticks
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, LEGEND_ABOVE, VERMILION, WORDS


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    xaxis: str,
    yaxis: str,
    log: bool = False,
    percent: bool = False,
    here: float | None = None,
    marks: Mapping[float, str] | None = None,
    height: int = 400,
) -> go.Figure:
    """Lines over a common x, each with its own dash and marker. here: the user's own x · marks: x → label of a line."""
    fig = go.Figure()
    looks = zip((BLUE, VERMILION, GREEN), ("solid", "dash", "dot"), ("circle", "diamond", "square"), strict=True)
    for (name, values), (colour, dash, symbol) in zip(lines.items(), looks, strict=False):
        fig.add_scatter(
            x=list(x),
            y=list(values),
            name=literal(name),
            mode="lines+markers" if len(x) <= 24 else "lines",
            line={"color": colour, "width": 4, "dash": dash},
            marker={"symbol": symbol, "size": 9},
        )
    for at, text in (marks or {}).items():
        fig.add_vline(x=at, line={"color": GREY, "width": 2, "dash": "dot"})
        fig.add_annotation(
            x=np.log10(at) if log else at,
            y=1,
            yref="paper",
            text=literal(text),
            showarrow=False,
            xanchor="right",
            xshift=-6,
            yanchor="top",
            font={"size": FONT_SIZE},
        )
    if here is not None:
        fig.add_vline(x=here, line={"color": WORDS, "width": 4})
    fig.update_xaxes(title={"text": xaxis})
    fig.update_yaxes(title={"text": yaxis}, rangemode="tozero")
    if log:
        fig.update_xaxes(type="log", tickvals=list(x), ticktext=[f"{value:g}" for value in x])
        fig.update_yaxes(type="log", exponentformat="SI")
    if percent:
        fig.update_yaxes(tickformat=".0%", range=[0, 1.02])
    fig.update_layout(
        height=height,
        hovermode="x unified",
        legend=LEGEND_ABOVE,
        margin={"t": 44, "b": 8},
    )
    return fig


def order_differences(
    tokens: Sequence[str], intact, without, names: tuple[str, str], *, height: int = 400
) -> go.Figure:
    """How much each token's output changes when the words are reordered: two series on a logarithmic axis.

    intact, without: (T,), relative differences; exact zeros are drawn at the bottom (1e-8).
    """
    foot = 1e-8
    fig = go.Figure()
    for values, name, colour, symbol in ((intact, names[0], BLUE, "circle"), (without, names[1], VERMILION, "diamond")):
        fig.add_scatter(
            x=list(range(len(tokens))),
            y=np.maximum(np.asarray(values, dtype=float), foot),
            mode="markers+lines",
            line={"color": colour, "width": 1, "dash": "dot"},
            marker={"color": colour, "symbol": symbol, "size": 15},
            name=literal(name),
            hovertemplate="%{y:.1e}<extra>%{fullData.name}</extra>",
        )
    fig.update_xaxes(**token_ticks(tokens), tickangle=-45)
    fig.update_yaxes(type="log", exponentformat="power", range=[-8.3, 0.7], dtick=2)
    fig.update_layout(height=height, legend=LEGEND_ABOVE, margin={"t": 44, "b": 8})
    return fig


def paths(tokens: Sequence[str], start: int, end: int, names: tuple[str, str], *, height: int = 330) -> go.Figure:
    """How information gets from one token to another: above, attention in one step; below, recurrence step by step.

    names: titles of the upper and the lower row, e.g. "self-attention: 1 step" (plain text).
    """
    size = len(tokens)
    first, last = sorted((start, end))
    fig = go.Figure()
    upper, lower = 1.0, 0.0
    grey = {"color": GREY, "width": 2}
    chain = {"y": lower, "ay": lower, "xref": "x", "yref": "y", "axref": "x", "ayref": "y", "arrowhead": 2, "text": ""}
    arrows = [
        {
            **chain,
            "x": i + 0.72,
            "ax": i + 0.28,
            "arrowwidth": 5 if first <= i < last else 2,
            "arrowsize": 0.6 if first <= i < last else 1,
            "arrowcolor": VERMILION if first <= i < last else GREY,
        }
        for i in range(size - 1)
    ]
    if first != last:
        bend = np.linspace(0, np.pi, 40)
        x = first + (last - first) * (1 - np.cos(bend)) / 2
        fig.add_scatter(
            x=x,
            y=upper + 0.1 + 0.5 * np.sin(bend),
            mode="lines",
            line={"color": BLUE, "width": 5},
            hoverinfo="skip",
        )
    for y, colour in ((upper, BLUE), (lower, VERMILION)):
        ends = [i in (first, last) or (y == lower and first < i < last) for i in range(size)]
        fig.add_scatter(
            x=list(range(size)),
            y=[y] * size,
            mode="markers",
            marker={
                "size": 24,
                "symbol": "circle" if y == upper else "square",
                "color": [colour if on else "rgba(138,143,152,0.35)" for on in ends],
                "line": grey,
            },
            hoverinfo="skip",
        )
    title = {"x": -0.4, "showarrow": False, "xanchor": "left", "font": {"size": FONT_SIZE}}
    titles = [
        {**title, "y": y, "text": f"<b>{literal(name)}</b>"}
        for y, name in ((upper + 0.85, names[0]), (lower + 0.4, names[1]))
    ]
    fig.update_layout(annotations=arrows + titles)
    fig.update_xaxes(**token_ticks(tokens), range=[-0.6, size - 0.4], tickangle=-45 if size > 8 else 0)
    fig.update_yaxes(range=[-0.4, 2.1], visible=False)
    fig.update_layout(height=height, showlegend=False, margin={"t": 8, "b": 8})
    return fig


def schedule(tokens: Sequence[str], names: tuple[str, str], axis: str, *, height: int = 400) -> go.Figure:
    """When each token's new vector can be computed: all at once by attention, one after another by recurrence.

    names: titles of the two panels; axis: title of the time axis.
    """
    size = len(tokens)
    fig = make_subplots(
        cols=2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=[literal(name) for name in names]
    )
    for column, steps, colour, shape in ((1, [0] * size, BLUE, ""), (2, list(range(size)), VERMILION, "/")):
        fig.add_bar(
            y=list(range(size)),
            x=[1] * size,
            base=steps,
            orientation="h",
            marker={"color": colour, "pattern": {"shape": shape, "fgcolor": "white", "size": 6, "fillmode": "overlay"}},
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=column,
        )
    fig.update_annotations(font={"size": FONT_SIZE})
    fig.update_xaxes(range=[0, size], title={"text": axis}, dtick=max(1, size // 8), tick0=0)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_yaxes(**token_ticks(tokens), col=1)
    fig.update_layout(height=max(height, 120 + 20 * size), bargap=0.15, margin={"t": 40, "b": 8})
    return fig


def weight_and_effect(
    labels: Sequence[str],
    weight,
    effect,
    *,
    axes: tuple[str, str],
    marked: Mapping[int, str] | None = None,
    height: int = 460,
) -> go.Figure:
    """One point per token or head: its attention weight (x) and its effect on the output (y). weight, effect: (N,).

    labels: shown on hover · marked: index → name of points to highlight.
    """
    weight, effect = np.asarray(weight, dtype=float), np.asarray(effect, dtype=float)
    marked = marked or {}
    chosen = [index in marked for index in range(len(weight))]
    fig = go.Figure(
        go.Scatter(
            x=weight,
            y=effect,
            mode="markers",
            cliponaxis=False,
            marker={
                "size": [18 if on else 13 for on in chosen],
                "color": [VERMILION if on else BLUE for on in chosen],
                "symbol": ["diamond" if on else "circle" for on in chosen],
                "line": {"width": 1, "color": "white"},
            },
            customdata=[[index] for index in range(len(weight))],
            text=[literal(label) for label in labels],
            hovertemplate="%{text}<br>%{x:.3f} · %{y:.3f}<extra></extra>",
            showlegend=False,
        )
    )
    right = float(np.nanmax(weight)) if weight.size else 1.0
    high = (float(np.nanmax(effect)) if effect.size else 0.0) or 1.0
    named: list[tuple[float, float]] = []  # positions of the points named so far, as shares of the figure
    for index, text in marked.items():
        far = weight[index] > right / 2
        across, up = weight[index] / right, effect[index] / high
        beside = [other for x, other in named if abs(across - x) < 0.35 and abs(up - other) < 0.16]
        shift = 4 if not beside else 22 if up >= max(beside) else -16  # away from the name already there
        named.append((across, up))
        fig.add_annotation(
            x=weight[index],
            y=effect[index],
            text=literal(text),
            showarrow=False,
            xanchor="right" if far else "left",
            xshift=-14 if far else 14,
            yshift=shift,
            font={"size": FONT_SIZE},
        )
    fig.update_xaxes(title={"text": literal(axes[0])}, rangemode="tozero")
    fig.update_yaxes(title={"text": literal(axes[1])}, rangemode="tozero")
    fig.update_layout(height=height, margin={"t": 16, "b": 8})
    return fig


def directions(
    keys: Mapping[str, tuple[float, float]],
    query: tuple[float, float],
    shares: Mapping[str, float],
    query_name: str,
) -> go.Figure:
    """A query and keys of two numbers as arrows from one origin; a key is the thicker, the larger its share."""
    fig = go.Figure()
    arrows = [(f"{name} {shares[name]:.0%}", end, BLUE, 2 + 10 * shares[name]) for name, end in keys.items()]
    for name, (x, y), colour, width in [*arrows, (query_name, query, VERMILION, 3)]:
        fig.add_scatter(
            x=[0, x],
            y=[0, y],
            mode="lines+markers+text",
            line={"color": colour, "width": width, "dash": "dash" if colour == VERMILION else "solid"},
            marker={"symbol": "arrow", "size": [0, 18], "angleref": "previous", "color": colour},
            text=["", literal(name)],
            textposition="top center" if y >= 0 else "bottom center",
            textfont={"size": FONT_SIZE},
            cliponaxis=False,
            hovertemplate=f"{literal(name)} (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
            showlegend=False,
        )
    fig.update_xaxes(range=[-3.2, 3.2], dtick=1, zeroline=True)
    fig.update_yaxes(range=[-2.6, 2.8], dtick=1, zeroline=True, scaleanchor="x")
    fig.update_layout(height=330, margin={"t": 12, "b": 8})
    return fig
