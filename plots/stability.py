"""Figures of why runs differ: update sizes, layer-wise learning rates, scores by seed, statistical power by seeds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal
from plots.marks import LEGEND_ABOVE, name_rows, number_axis, side_by_side
from plots.theme import BLUE, GREEN, GREY, ORANGE, SKY, SMALL, VERMILION, broken

CORRECTED, UNCORRECTED = BLUE, VERMILION
SYMBOL = {True: "circle", False: "diamond"}
SLOT = 0.085  # of a learning rate's width, between dots side by side
APART = 0.035  # of the height: dots that are closer stand side by side


def step_lengths(
    with_it: Sequence[float], without: Sequence[float], names: tuple[str, str], axes: tuple[str, str, str]
) -> go.Figure:
    """Left: length of each update with and without bias correction; right: ratio. axes: of steps, lengths, ratio."""
    fig = make_subplots(rows=1, cols=2, horizontal_spacing=0.13)
    steps = list(range(1, len(with_it) + 1))
    for values, name, colour, dash in (
        (with_it, names[0], CORRECTED, "solid"),
        (without, names[1], UNCORRECTED, "dash"),
    ):
        fig.add_scatter(
            x=steps,
            y=list(values),
            mode="lines",
            name=name,
            line={"color": colour, "width": 4, "dash": dash},
            hovertemplate="%{x}: %{y:.2e}<extra></extra>",
            row=1,
            col=1,
        )
    factor = [b / a for a, b in zip(with_it, without, strict=True)]
    fig.add_scatter(
        x=steps,
        y=factor,
        mode="lines",
        line={"color": UNCORRECTED, "width": 4},
        showlegend=False,
        hovertemplate="%{x}: × %{y:.2f}<extra></extra>",
        row=1,
        col=2,
    )
    peak = max(range(len(factor)), key=factor.__getitem__)
    for at in dict.fromkeys((0, peak)):
        number = {"text": [f"× {factor[at]:.1f}"], "textposition": "middle right", "textfont": {"size": SMALL}}
        look = {"mode": "markers+text", "showlegend": False, "marker": {"size": 12, "color": UNCORRECTED}}
        fig.add_scatter(x=[steps[at]], y=[factor[at]], **number, **look, hoverinfo="skip", row=1, col=2)
    fig.add_hline(y=1, line={"color": GREY, "dash": "dot", "width": 2}, row=1, col=2)
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], rangemode="tozero", exponentformat="e", row=1, col=1)
    fig.update_yaxes(title_text=axes[2], range=[0, max(factor) * 1.15], side="right", row=1, col=2)
    return fig.update_layout(height=360, showlegend=True, legend=LEGEND_ABOVE)


def layer_rates(names: Sequence[str], rates: Sequence[float | None], frozen: str, axis: str) -> go.Figure:
    """One bar per layer, the embeddings at the bottom. rates: 0 for a frozen layer, None to show a question mark."""
    fig = go.Figure()
    at = list(range(len(names)))
    fig.add_bar(
        y=at,
        x=[rate or 0 for rate in rates],
        orientation="h",
        width=0.6,
        showlegend=False,
        marker={"color": [BLUE if rate else SKY for rate in rates]},
        text=["?" if rate is None else f"{rate:.1e}".replace("e-0", "e-") if rate else frozen for rate in rates],
        textposition="outside",
        constraintext="none",  # else it shrinks to the thickness of its bar
        cliponaxis=False,
        textfont={"size": SMALL},
        hovertemplate="%{x:.2e}<extra></extra>",
    )
    fig.update_yaxes(tickvals=at, ticktext=list(names), showgrid=False)
    fig.update_xaxes(
        title_text=axis, range=[0, max([rate or 1e-9 for rate in rates]) * 1.3], exponentformat="e", nticks=5
    )
    fig.update_layout(height=96 + 30 * len(names))
    return fig


@dataclass(frozen=True)
class Cell:
    """The runs of one setting. column: label of the learning rate · row: label of the epochs · scores: seed → percent,
    of the recorded runs; own: of the user's."""

    row: str
    column: str
    corrected: bool
    scores: Mapping[int, float]
    own: Mapping[int, float] = field(default_factory=dict)


def grid(
    cells: Sequence[Cell],
    names: tuple[str, str],
    axis: str,
    chance: float | None,
    chance_word: str,
    seed_word: str,
    title: str = "",
    own_word: str = "",
    rate_word: str = "",
) -> go.Figure:
    """One panel per number of epochs; in it, by learning rate, one dot per seed and a line at their mean.

    chance: majority baseline in percent · names: legend entries with and without bias correction.
    """
    rows, columns = (list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("row", "column"))
    layout = {"shared_yaxes": True, "horizontal_spacing": 0.04}
    fig = make_subplots(rows=1, cols=len(rows), subplot_titles=[literal(row) for row in rows], **layout)
    every = [score for cell in cells for score in (*cell.scores.values(), *cell.own.values())]
    every += [] if chance is None else [chance]
    span = max(every, default=0) - min(every, default=0)
    shown: set[bool] = set()
    for cell in cells:
        panel, x = rows.index(cell.row) + 1, columns.index(cell.column) + (-0.24 if cell.corrected else 0.24)
        colour, values = (CORRECTED if cell.corrected else UNCORRECTED), list(cell.scores.values())
        shift = [x + SLOT * slot for slot in side_by_side([*values, *cell.own.values()], APART * span)]
        if cell.own:
            fig.add_scatter(
                x=shift[len(values) :],
                y=list(cell.own.values()),
                mode="markers",
                showlegend=False,
                customdata=list(cell.own),
                marker={"size": 15, "color": colour, "symbol": "star", "line": {"width": 1.5, "color": "#222222"}},
                hovertemplate=f"{own_word} · {seed_word} %{{customdata}}: %{{y:.1f}}<extra></extra>",
                row=1,
                col=panel,
            )
        if not values:
            continue
        fig.add_scatter(
            x=shift[: len(values)],
            y=values,
            mode="markers",
            customdata=list(cell.scores),
            showlegend=cell.corrected not in shown,
            name=names[0] if cell.corrected else names[1],
            legendgroup=str(cell.corrected),
            marker={"size": 9, "color": colour, "symbol": SYMBOL[cell.corrected], "opacity": 0.8},
            hovertemplate=f"{seed_word} %{{customdata}}: %{{y:.1f}}<extra></extra>",
            row=1,
            col=panel,
        )
        shown.add(cell.corrected)
        mean = statistics.fmean(values)
        fig.add_scatter(
            x=[x - 0.2, x + 0.2],
            y=[mean, mean],
            mode="lines",
            showlegend=False,
            line={"color": colour, "width": 4},
            hovertemplate="%{y:.1f}<extra></extra>",
            row=1,
            col=panel,
        )
    if chance is not None:
        for panel in range(1, len(rows) + 1):
            fig.add_hline(y=chance, line={"color": GREY, "dash": "dash", "width": 2}, row=1, col=panel)
        note = {"text": chance_word, "showarrow": False, "yshift": -12, "xanchor": "left", "font": {"size": SMALL}}
        fig.add_annotation(x=-0.58, y=chance, **note, row=1, col=1)
    number_axis(fig, [literal(column) for column in columns], range=[-0.6, len(columns) - 0.4], showgrid=False)
    fig.update_yaxes(title_text=axis, row=1, col=1)
    fig.update_xaxes(title={"text": rate_word, "standoff": 4})
    if title:
        fig.update_layout(title={"text": title, "y": 0.99, "yanchor": "top"}, margin={"t": 84})
    fig.update_layout(
        height=460,
        showlegend=True,
        uirevision="grid",
        legend={"orientation": "h", "y": -0.16, "yanchor": "top", "x": 0},
    )
    return fig


def power_curve(seeds: Sequence[int], chances: Sequence[float], wanted: float, axes: tuple[str, str]) -> go.Figure:
    """Statistical power (`chances`) by number of runs per setting, with a line at `wanted`."""
    fig = go.Figure()
    fig.add_scatter(
        x=list(seeds),
        y=list(chances),
        mode="lines+markers",
        line={"color": GREEN, "width": 4},
        showlegend=False,
        marker={"size": 8},
        hovertemplate="%{x}: %{y:.0%}<extra></extra>",
    )
    fig.add_hline(y=wanted, line={"color": GREY, "dash": "dash", "width": 2})
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], range=[0, 1.03], tickformat=".0%")
    fig.update_layout(height=320)
    return fig


def two_groups(
    groups: Mapping[str, Sequence[float]], intervals: Mapping[str, tuple[float, float]], axis: str
) -> go.Figure:
    """Scores of two settings' runs, one row each, with mean ± standard error (`intervals`)."""
    fig = go.Figure()
    every = [value for values in groups.values() for value in values]
    apart = 0.015 * (max(every, default=0) - min(every, default=0))
    for row, ((name, values), colour) in enumerate(zip(groups.items(), (BLUE, ORANGE), strict=True)):
        fig.add_scatter(
            x=list(values),
            y=[row + 0.15 + 0.09 * slot for slot in side_by_side(values, apart)],
            mode="markers",
            name=name,
            showlegend=False,
            marker={"size": 13, "color": colour, "opacity": 0.75, "symbol": SYMBOL[row == 0]},
            hovertemplate="%{x:.1f}<extra></extra>",
        )
        mean, error = intervals[name]
        fig.add_scatter(
            x=[mean],
            y=[row - 0.17],
            mode="markers",
            showlegend=False,
            error_x={"array": [error], "thickness": 3, "width": 10, "color": colour},
            marker={"size": 13, "symbol": "line-ns", "line": {"width": 4, "color": colour}},
            hovertemplate="%{x:.1f}<extra></extra>",
        )
    name_rows(fig, [broken(literal(name), 18) for name in groups])
    fig.update_xaxes(title_text=axis)
    fig.update_layout(height=130 + 76 * len(groups))
    return fig
