"""Figures of training options: loss spread over dropout masks, terms of a loss, predictions of averaged weights, texts
that fit into a length, rows that fit into memory, loss functions, float16 rounding, update sizes by layer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.attention import literal
from plots.marks import LEGEND_ABOVE, add_line, name_rows
from plots.theme import BLUE, GREEN, GREY, ORANGE, SMALL, WORDS, broken

USUAL, OTHER = (ORANGE, "dash", "diamond"), (BLUE, "solid", "circle")  # colour, dash, symbol
OPTIMIZERS = (USUAL, OTHER, (ORANGE, "dash", "square"), (BLUE, "solid", "triangle-up"))  # AdamW, LAMB, twice


def loss_spread(groups: Mapping[str, Sequence[float]], axis: str) -> go.Figure:
    """One row per group: the losses as dots, jittered vertically, and a line at their mean."""
    fig = go.Figure()
    for row, ((_name, values), colour) in enumerate(zip(groups.items(), (ORANGE, BLUE), strict=False)):
        heights = [row + 0.3 * ((7 * i % 11) / 5 - 1) for i in range(len(values))]
        fig.add_scatter(
            x=list(values),
            y=heights,
            mode="markers",
            showlegend=False,
            marker={"size": 8, "color": colour, "opacity": 0.55},
            hovertemplate="%{x:.4f}<extra></extra>",
        )
        mean = sum(values) / len(values)
        fig.add_scatter(
            x=[mean, mean],
            y=[row - 0.42, row + 0.42],
            mode="lines",
            showlegend=False,
            line={"color": colour, "width": 4},
            hovertemplate="%{x:.4f}<extra></extra>",
        )
    name_rows(fig, list(groups))
    fig.update_xaxes(title_text=axis)
    fig.update_layout(height=130 + 80 * len(groups))
    return fig


def loss_sum(terms: Mapping[str, float], axis: str) -> go.Figure:
    """The terms of a loss as one stacked bar."""
    fig = go.Figure()
    for (name, value), colour in zip(terms.items(), (BLUE, ORANGE, GREEN), strict=False):
        fig.add_bar(
            x=[value],
            y=[""],
            orientation="h",
            name=name,
            marker={"color": colour},
            text=[f"{value:.3f}"],
            textposition="inside",
            textfont={"size": SMALL},
            insidetextanchor="middle",
            hovertemplate="%{x:.4f}<extra></extra>",
        )
    fig.update_xaxes(title_text=axis, rangemode="tozero")
    fig.update_yaxes(showticklabels=False)
    return fig.update_layout(height=200, barmode="stack", showlegend=True, legend=LEGEND_ABOVE | {"y": 1.05})


def two_answers(
    last: Sequence[float], mean: Sequence[float], names: tuple[str, str], axes: tuple[str, str]
) -> go.Figure:
    """A probability over steps, predicted by the last weights and by their running mean. axes: steps, probability."""
    fig = go.Figure()
    steps = list(range(1, len(last) + 1))
    for values, name, colour, width, mode in (
        (last, names[0], ORANGE, 2, "lines+markers"),
        (mean, names[1], BLUE, 5, "lines"),
    ):
        fig.add_scatter(
            x=steps,
            y=list(values),
            mode=mode,
            name=name,
            marker={"size": 7},
            line={"color": colour, "width": width},
            hovertemplate="%{x}: %{y:.3f}<extra></extra>",
        )
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], range=[0, 1.02])
    return fig.update_layout(height=300, showlegend=True, legend=LEGEND_ABOVE)


def step_shares(shares: Sequence[float], axes: tuple[str, str]) -> go.Figure:
    """Weight of each step in a mean. axes: titles of the steps and the shares."""
    fig = go.Figure()
    fig.add_bar(
        x=list(range(1, len(shares) + 1)),
        y=list(shares),
        marker={"color": BLUE},
        showlegend=False,
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
    )
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], tickformat=".0%", rangemode="tozero")
    fig.update_layout(height=300)
    return fig


def share_within(
    lengths: Sequence[int],
    chosen: int,
    marks: Mapping[float, int],
    axes: tuple[str, str],
    chosen_word: str,
    title: str = "",
) -> go.Figure:
    """Cumulative distribution of text lengths. marks: share → length at which it is reached · chosen: the maximum
    length, beyond which texts are truncated."""
    fig = go.Figure()
    ordered = sorted(lengths)
    levels = sorted({0, chosen, *ordered, max(chosen, ordered[-1]) + 1})
    shares = [bisect_right(ordered, level) / len(ordered) for level in levels]
    fig.add_scatter(
        x=levels,
        y=shares,
        mode="lines",
        line={"color": BLUE, "width": 4, "shape": "hv"},
        showlegend=False,
        hovertemplate="%{x}: %{y:.0%}<extra></extra>",
    )
    for share, length in marks.items():
        fig.add_scatter(
            x=[0, length, length],
            y=[share, share, 0],
            mode="lines",
            showlegend=False,
            hoverinfo="skip",
            line={"color": GREY, "width": 2, "dash": "dot"},
        )
        note = {"text": f"{share:.0%} · {length}", "showarrow": False, "xshift": 6, "font": {"size": SMALL}}
        fig.add_annotation(x=0, y=share, xanchor="left", yanchor="bottom", **note)
    reached = bisect_right(ordered, chosen) / len(ordered)
    fig.add_vline(x=chosen, line={"color": WORDS, "width": 4})
    fig.add_scatter(
        x=[chosen],
        y=[reached],
        mode="markers",
        name=chosen_word,
        showlegend=False,
        marker={"size": 16, "color": WORDS, "line": {"width": 2, "color": "#222222"}},
        hovertemplate="%{x}: %{y:.0%}<extra></extra>",
    )
    fig.update_xaxes(title_text=broken(axes[0], 24), range=[0, levels[-1] * 1.02])
    fig.update_yaxes(title_text=axes[1], range=[0, 1.05], tickformat=".0%")
    fig.update_layout(title_text=title, height=320)
    return fig


def rows_that_fit(
    lengths: Sequence[int],
    series: Mapping[str, Sequence[int]],
    published: Mapping[str, Mapping[int, int]],
    chosen: int,
    axes: tuple[str, str],
    title: str = "",
) -> go.Figure:
    """Largest batch size by length, one line per estimate. published: name → length → batch size measured by others, as
    open diamonds. Both axes are logarithmic; batches of 0 are not drawn."""
    fig = go.Figure()
    for (name, batches), colour, dash in zip(series.items(), (BLUE, ORANGE), ("solid", "dash"), strict=False):
        at = [(length, batch) for length, batch in zip(lengths, batches, strict=True) if batch]
        fig.add_scatter(
            x=[length for length, _ in at],
            y=[batch for _, batch in at],
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            marker={"size": 8},
            hovertemplate="%{x}: %{y}<extra></extra>",
        )
    for name, results in published.items():
        at = [(length, batch) for length, batch in results.items() if batch]
        fig.add_scatter(
            x=[length for length, _ in at],
            y=[batch for _, batch in at],
            name=name,
            mode="markers",
            marker={"size": 13, "symbol": "diamond-open", "color": GREY, "line": {"width": 3}},
            hovertemplate="%{x}: %{y}<extra></extra>",
        )
    fig.add_vline(x=chosen, line={"color": WORDS, "width": 4})
    fig.update_xaxes(title_text=axes[0], type="log", tickvals=[n for n in lengths if n & (n - 1) == 0])
    fig.update_yaxes(title_text=axes[1], type="log", dtick=1)
    return fig.update_layout(title_text=title, height=320, showlegend=True, legend=LEGEND_ABOVE)


def loss_curves(
    probabilities: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    marked: tuple[float, float],
    axes: tuple[str, str],
    title: str = "",
) -> go.Figure:
    """Losses over the probability of the correct class, one line each. marked: a point on the last line."""
    fig = go.Figure()
    looks = [(BLUE, "solid"), (ORANGE, "dash")][: len(curves)]
    for (name, values), (colour, dash) in zip(curves.items(), looks, strict=True):
        fig.add_scatter(
            x=list(probabilities),
            y=list(values),
            name=name,
            mode="lines",
            line={"color": colour, "width": 4, "dash": dash},
            hovertemplate="%{x:.2f}: %{y:.3f}<extra></extra>",
        )
    fig.add_scatter(
        x=[marked[0]],
        y=[marked[1]],
        mode="markers",
        showlegend=False,
        marker={"size": 16, "color": looks[-1][0], "line": {"width": 2, "color": "#222222"}},
        hovertemplate="%{x:.2f}: %{y:.3f}<extra></extra>",
    )
    fig.update_xaxes(title_text=axes[0], range=[0, 1])
    fig.update_yaxes(title_text=axes[1], rangemode="tozero")
    return fig.update_layout(title_text=title, height=280, showlegend=True, legend=LEGEND_ABOVE)


def weight_paths(paths: Mapping[str, Sequence[float]], axes: tuple[str, str]) -> go.Figure:
    """The value of one weight over steps, for each number format. paths: name → values."""
    fig = go.Figure()
    for (name, values), look in zip(paths.items(), (USUAL, OTHER), strict=False):
        hover = "%{x}: %{y:.6f}<extra></extra>"
        add_line(fig, range(len(values)), values, name, look, width=4, mode="lines", hovertemplate=hover)
    fig.update_xaxes(title_text=axes[0])
    fig.update_yaxes(title_text=axes[1])
    return fig.update_layout(height=320, legend=LEGEND_ABOVE)


def layer_shares(
    names: Sequence[str], shares: Mapping[str, Sequence[float]], axis: str, percent: bool = True
) -> go.Figure:
    """Relative update of each matrix (or another value, if not `percent`), one row per matrix, on a log axis."""
    fig, written = go.Figure(), ".3%" if percent else ".3~g"
    rows = list(range(len(names)))
    for (name, values), (colour, _dash, symbol) in zip(shares.items(), (USUAL, OTHER), strict=False):
        fig.add_scatter(
            x=list(values),
            y=rows,
            mode="markers",
            name=literal(name),
            marker={"symbol": symbol, "size": 12, "color": colour},
            customdata=list(names),
            hovertemplate=f"%{{customdata}}, {literal(name)}: %{{x:{written}}}<extra></extra>",
        )
    everything = [value for values in shares.values() for value in values if value > 0]
    marks = [n * 10.0**e for e in range(-8, 4) for n in (1, 2, 5)]
    marks = [mark for mark in marks if min(everything) / 1.5 <= mark <= max(everything) * 1.5] if everything else []
    words = [f"{100 * mark:.2g} %" if percent else f"{mark:g}" for mark in marks]
    fig.update_xaxes(title_text=broken(axis, 20), type="log", tickvals=marks, ticktext=words)
    name_rows(fig, names, showgrid=None)
    return fig.update_layout(height=110 + 26 * len(rows), legend=LEGEND_ABOVE | {"y": 1.01})
