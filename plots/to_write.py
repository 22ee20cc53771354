"""Figures of text generation: accuracy over steps, values over sampling sweeps, recorded arms by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import plotly.graph_objects as go

from plots.marks import LEGEND_ABOVE, add_line, panels
from plots.theme import (
    BLUE,
    DOTTED,
    GREEN,
    ORANGE,
    SMALL,
    VERMILION,
    add_text,
    broken,
    line_below_names,
    name_rows_above,
)

LOOKS = ((BLUE, "solid", "circle"), (VERMILION, "dash", "diamond"), (GREEN, "dot", "square"), (ORANGE, "dashdot", "x"))


def _lines(
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]], titles: tuple[str, str], form: str
) -> go.Figure:
    fig = go.Figure()
    for (name, (x, y)), look in zip(points.items(), cycle(LOOKS), strict=False):
        add_line(fig, x, y, name, look, form)
    fig.update_xaxes(title_text=titles[0])
    fig.update_yaxes(title_text=titles[1])
    return fig.update_layout(height=360, showlegend=True, legend=LEGEND_ABOVE | {"font": {"size": SMALL}})


def over_steps(lines: Mapping[str, Sequence[tuple[int, float]]], titles: tuple[str, str]) -> go.Figure:
    """Shares over the steps. lines: name → (step, share)s."""
    fig = _lines({name: ([s for s, _ in marks], [p for _, p in marks]) for name, marks in lines.items()}, titles, ".0%")
    fig.update_yaxes(tickformat=".0%", range=[0, 1.04])
    return fig


def by_sweep(lines: Mapping[str, Sequence[float]], titles: tuple[str, str]) -> go.Figure:
    """A value after each sweep. lines: name → one value per sweep."""
    fig = _lines({name: (range(1, len(values) + 1), values) for name, values in lines.items()}, titles, ".2f")
    fig.update_xaxes(dtick=1)
    return fig


def arms_by_measure(
    values: Mapping[str, Mapping[str, Sequence[float]]], axis: str, floors: Mapping[str, float] | None = None
) -> go.Figure:
    """One panel per metric, one row per arm: a dot per seed, a line at the mean. values: metric → arm → shares ·
    floors: metric → percent that need no understanding, a dotted line."""
    titles = [broken(metric) for metric in values]
    fig = panels(titles, rows=len(values), vertical_spacing=0.38 / max(1, len(values)))
    arms = list(dict.fromkeys(arm for some in values.values() for arm in some))
    for number, (metric, some) in enumerate(values.items(), 1):
        names = [arm for arm in arms if arm in some]
        for y, arm in enumerate(names):
            colour, _dash, symbol = LOOKS[arms.index(arm) % len(LOOKS)]
            shares = [100 * share for share in some[arm]]
            fig.add_scatter(
                x=shares,
                y=[y + 0.24] * len(shares),
                mode="markers",
                showlegend=False,
                marker={"size": 12, "symbol": symbol, "color": colour},
                hovertemplate=f"{arm}: %{{x:.1f}}<extra></extra>",
                row=number,
                col=1,
            )
            mean = sum(shares) / len(shares)
            fig.add_scatter(
                x=[mean],
                y=[y + 0.24],
                mode="markers",
                showlegend=False,
                hovertemplate=f"{arm}: %{{x:.1f}}<extra></extra>",
                cliponaxis=False,
                marker={"size": 18, "symbol": "line-ns", "line": {"width": 4, "color": colour}},
                row=number,
                col=1,
            )
            add_text(fig, [max(shares)], [y + 0.24], [f"  {mean:.1f}"], row=number, col=1)
        if floors and metric in floors:
            line_below_names(fig, floors[metric], len(names), 0.08, 46, DOTTED, "" if number == 1 else str(number))
        name_rows_above(fig, names, 0.08, row=number, col=1)
        fig.update_xaxes(range=[-4, 118], tickvals=list(range(0, 101, 20)), row=number, col=1)
    fig.update_xaxes(title_text=axis, row=len(values), col=1)
    fig.update_layout(height=70 + sum(80 + 46 * len(some) for some in values.values()))
    fig.update_layout(margin_t=6 + 22 * (1 + max((title.count("<br>") for title in titles), default=0)))
    return fig
