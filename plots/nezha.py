"""Figures of NEZHA: relative position vectors, scores at unseen lengths, shares over a setting."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal, number
from plots.marks import LEGEND_ABOVE, add_line, number_axis
from plots.theme import BLUE, DIVERGING, GREEN, GREY, ORANGE, PINK, SMALL, VERMILION

LOOKS = (
    (ORANGE, "dash", "diamond"),
    (PINK, "dot", "square"),
    (BLUE, "solid", "circle"),
    (GREEN, "dashdot", "triangle-up"),
)


def distance_strips(
    tokens: Sequence[str],
    distances: Sequence[int],
    vectors,
    added: Sequence[float],
    here: int,
    axes: tuple[str, str, str],
) -> go.Figure:
    """Above, for each token, the vector of its distance from token `here`. Below, its contribution to the score.

    vectors: (T, D), between −1 and 1 · added: contributions · axes: titles of the strips, the bars, the distances.
    """
    vectors = np.asarray(vectors, dtype=float)
    fig = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.58, 0.42], vertical_spacing=0.06)
    places = list(range(len(tokens)))
    hover = [f"{literal(token)} {distance:+d}" for token, distance in zip(tokens, distances, strict=True)]
    fig.add_trace(
        go.Heatmap(
            z=vectors.T,
            x=places,
            y=list(range(1, vectors.shape[1] + 1)),
            zmin=-1,
            zmax=1,
            colorscale=DIVERGING,
            xgap=3,
            showscale=True,
            text=[hover] * vectors.shape[1],
            colorbar={"thickness": 12, "outlinewidth": 0, "len": 0.6, "y": 0.72, "tickvals": [-1, 0, 1]},
            hovertemplate="%{text} · %{y}: %{z:.3f}<extra></extra>",
        ),
        row=1,
        col=1,
    )
    written = len(tokens) <= 16
    fig.add_bar(
        x=places,
        y=list(added),
        showlegend=False,
        cliponaxis=False,
        marker={"color": [VERMILION if value > 0 else BLUE for value in added]},
        text=[number(value) if written else "" for value in added],
        textposition="outside",
        textfont={"size": SMALL},
        customdata=hover,
        hovertemplate="%{customdata}: %{y:.3f}<extra></extra>",
        row=2,
        col=1,
    )
    most = max([abs(value) for value in added] or [1.0]) * (1.35 if written else 1.1) or 1.0
    labels = [f"{distance:+d}".replace("-", "−") if distance else "0" for distance in distances]
    every = 1 if len(tokens) <= 16 else 2  # every second label, or they would overlap
    shown = [place for place in places if (place - here) % every == 0]
    fig.update_xaxes(
        tickvals=shown,
        ticktext=[labels[place] for place in shown],
        tickangle=0,
        showgrid=False,
        ticks="",
        range=[-0.5, len(tokens) - 0.5],
    )
    fig.update_xaxes(title_text=axes[2], row=2, col=1)
    fig.update_yaxes(title_text=axes[0], showgrid=False, autorange="reversed", row=1, col=1)
    fig.update_yaxes(title_text=axes[1], range=[-most, most], row=2, col=1)
    fig.add_hline(y=0, line={"color": GREY, "width": 1}, row=2, col=1)
    fig.update_layout(height=470)
    return fig


def over_lengths(
    arms: Mapping[str, Mapping[int, Sequence[float]]],
    trained: int | None,
    axes: tuple[str, str],
    trained_word: str = "",
    number: str = ".0%",
    looks: Sequence[tuple[str, str, str]] = LOOKS,
) -> go.Figure:
    """Mean and standard deviation over seeds at each length, and one dot per seed. arms: name → length → values ·
    trained: maximum training length, marked by a line labelled `trained_word` · number: format of values · looks: of
    the arms in turn."""
    fig = go.Figure()
    lengths = sorted({length for points in arms.values() for length in points})
    for index, (name, points) in enumerate(arms.items()):
        look = colour, _dash, symbol = looks[index % len(looks)]
        at = [lengths.index(length) + (index - (len(arms) - 1) / 2) * 0.06 for length in points]
        means = [statistics.fmean(values) for values in points.values()]
        spread = [statistics.stdev(values) if len(values) > 1 else 0.0 for values in points.values()]
        error = {"type": "data", "array": spread, "thickness": 2, "width": 5}
        add_line(fig, at, means, name, look, number, size=11, legendgroup=name, error_y=error, customdata=list(points))
        fig.add_scatter(
            x=[x for x, values in zip(at, points.values(), strict=True) for _ in values],
            y=[value for values in points.values() for value in values],
            mode="markers",
            legendgroup=name,
            showlegend=False,
            hoverinfo="skip",
            marker={"symbol": f"{symbol}-open", "size": 7, "color": colour},
        )
    if trained in lengths:
        fig.add_vline(
            x=lengths.index(trained) + 0.5,
            line={"color": GREY, "width": 2, "dash": "dot"},
            annotation={"text": literal(trained_word), "font": {"size": SMALL}, "xanchor": "left", "xshift": 6},
        )
    number_axis(fig, [f"{n:,}" for n in lengths], title_text=axes[0])
    fig.update_yaxes(title_text=axes[1], tickformat=number, rangemode="tozero")
    return fig.update_layout(height=420, legend=LEGEND_ABOVE | {"y": 1.1, "font": {"size": SMALL}})


def over_scales(lines: Mapping[str, Sequence[float]], scales: Sequence[str], here: int, axes: tuple[str, str]):
    """Shares over evenly spaced settings, e.g. loss scales. lines: name → one share each · here: the current index."""
    fig = go.Figure()
    for (name, shares), look in zip(lines.items(), LOOKS, strict=False):
        add_line(fig, range(len(scales)), shares, name, look, ".2%", customdata=list(scales))
    fig.add_vline(x=here, line={"color": GREY, "width": 3, "dash": "dot"})
    number_axis(fig, scales, title_text=axes[0])
    fig.update_yaxes(title_text=axes[1], tickformat=".0%", range=[-0.02, 1.04])
    return fig.update_layout(height=340, legend=LEGEND_ABOVE)
