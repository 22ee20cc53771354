"""Figures of the paper's ablations in small: scores of arms, differences to the base, curves over steps."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.grammar import OURS, PAPER
from plots.theme import GREEN, GREY, PALETTE, PINK, SMALL, VERMILION

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
NO_DIRECTION = ("no difference in the paper", "not in the paper")
VERDICT_COLOUR = {"agrees": GREEN, "disagrees": PINK, "unclear": GREY} | dict.fromkeys(NO_DIRECTION, GREY)
VERDICT_SYMBOL = {"agrees": "circle", "disagrees": "x", "unclear": "circle-open"}
VERDICT_SYMBOL |= dict.fromkeys(NO_DIRECTION, "square-open")


@dataclass(frozen=True)
class Score:
    """An arm in one measure: the paper's number, if it has one, ours by seed, and those of the reader's own runs."""

    name: str
    paper: float | None
    ours: Mapping[int, float]
    own: Sequence[float] = ()


@dataclass(frozen=True)
class Gap:
    """An arm minus another: the paper's, ours with half the width of its interval (None where one seed has run)."""

    name: str
    paper: float | None
    ours: float | None
    half: float | None
    verdict: str


def rows_axis(fig: go.Figure, names: Sequence[str], **where) -> None:
    fig.update_yaxes(
        tickvals=list(range(len(names))), ticktext=list(names), range=[len(names) - 0.5, -0.5], showgrid=False, **where
    )


def scores(
    rows: Sequence[Score],
    titles: tuple[str, str],
    axis: tuple[str, str],
    seed_word: str,
    floor: float | None = None,
    *,
    title: str = "",
    high: int = 64,
    own: str = "",
) -> go.Figure:
    """Beside each other, each on its own scale: the paper's numbers, and ours, a dot a seed and mean ± sd.

    floor: what needs no understanding, a dotted line among ours where it is in sight; our scale does not stretch to it.
    high: pixels of a row · own: what the reader's runs are called.
    """
    with_paper = any(row.paper is not None for row in rows)
    fig = make_subplots(
        rows=1, cols=1 + with_paper, subplot_titles=titles if with_paper else titles[1:], shared_yaxes=True,
        horizontal_spacing=0.06,
    )  # fmt: skip
    ours = 1 + with_paper
    for y, row in enumerate(rows):
        if with_paper and row.paper is not None:
            fig.add_scatter(
                x=[row.paper], y=[y], mode="markers+text", text=[f"{row.paper:g}"], textposition="top center",
                textfont={"size": SMALL}, marker={"size": 15, "color": PAPER, "symbol": "diamond"}, showlegend=False,
                hovertemplate="%{x}<extra></extra>", row=1, col=1,
            )  # fmt: skip
        if not row.ours:
            continue
        values = list(row.ours.values())
        fig.add_scatter(
            x=values, y=[y + 0.16] * len(values), mode="markers", customdata=list(row.ours), showlegend=False,
            marker={"size": 10, "color": OURS, "opacity": 0.75},
            hovertemplate=f"{seed_word} %{{customdata}}: %{{x:.2f}}<extra></extra>", row=1, col=ours,
        )  # fmt: skip
        spread = {"array": [statistics.stdev(values)], "thickness": 3, "width": 9} if len(values) > 1 else None
        mean = statistics.fmean(values)
        fig.add_scatter(
            x=[mean], y=[y - 0.12], mode="markers+text", error_x=spread, text=[f"{mean:.1f}"], showlegend=False,
            textposition="top center", textfont={"size": SMALL},
            marker={"size": 14, "color": OURS, "symbol": "line-ns", "line": {"width": 4, "color": OURS}},
            cliponaxis=False, hovertemplate="%{x:.2f}<extra></extra>", row=1, col=ours,
        )  # fmt: skip
    for y, row in enumerate(rows):
        if row.own:
            fig.add_scatter(
                x=list(row.own), y=[y + 0.16] * len(row.own), mode="markers", showlegend=False,
                marker={"size": 20, "color": VERMILION, "symbol": "star", "line": {"width": 1.5, "color": "#222222"}},
                hovertemplate=f"{own}: %{{x:.1f}}<extra></extra>", row=1, col=ours,
            )  # fmt: skip
    rows_axis(fig, [row.name for row in rows], row=1, col=1)
    if with_paper:
        rows_axis(fig, [row.name for row in rows], row=1, col=2)
        fig.update_yaxes(showticklabels=False, row=1, col=2)
        pad_axis(fig, [row.paper for row in rows if row.paper is not None], axis[0], col=1)
    values = [value for row in rows for value in (*row.ours.values(), *row.own)]
    pad_axis(fig, values, axis[1], col=ours)
    if floor is not None and values:
        low, high = next(fig.select_xaxes(row=1, col=ours)).range
        if low <= floor <= high:
            fig.add_vline(x=floor, line={"color": GREY, "width": 3, "dash": "dot"}, row=1, col=ours)
    fig.update_layout(height=130 + high * len(rows))
    if title:
        fig.update_layout(title={"text": title, "y": 0.99, "yanchor": "top"}, margin={"t": 84})
    return fig


def pad_axis(fig: go.Figure, values: Sequence[float], title: str, col: int) -> None:
    """Room for the numbers at either end."""
    if values:
        room = max(0.15 * (max(values) - min(values)), 0.5)
        fig.update_xaxes(range=[min(values) - room, max(values) + room], row=1, col=col)
    fig.update_xaxes(title_text=title, row=1, col=col)


def differences(rows: Sequence[Gap], names: tuple[str, str], title: str) -> go.Figure:
    """Between arms, both on one scale: the paper's as a diamond, ours with its 95 % interval, coloured by verdict.

    names: of the paper's points and of ours, for the legend.
    """
    fig = go.Figure()
    fig.add_vline(x=0, line={"color": GREY, "width": 2})
    for y, row in enumerate(rows):
        if row.paper is not None:
            fig.add_scatter(
                x=[row.paper], y=[y - 0.17], mode="markers", showlegend=False,
                marker={"size": 15, "color": PAPER, "symbol": "diamond"}, hovertemplate="%{x:+.1f}<extra></extra>",
            )  # fmt: skip
        if row.ours is not None:
            colour = VERDICT_COLOUR[row.verdict]
            error = None
            if row.half is not None:
                error = {"array": [row.half], "thickness": 3, "width": 9, "color": colour}
            fig.add_scatter(
                x=[row.ours], y=[y + 0.17], mode="markers", error_x=error, showlegend=False,
                marker={
                    "size": 14,
                    "color": colour,
                    "symbol": VERDICT_SYMBOL[row.verdict],
                    "line": {"width": 3, "color": colour},
                },
                hovertemplate="%{x:+.2f}<extra></extra>",
            )  # fmt: skip
    keys = [(names[0], "diamond", PAPER)] if any(row.paper is not None for row in rows) else []
    for name, symbol, colour in (*keys, (names[1], "circle", GREY)):
        fig.add_scatter(
            x=[None], y=[None], mode="markers", name=name, marker={"size": 13, "symbol": symbol, "color": colour}
        )
    fig.update_layout(showlegend=True)
    rows_axis(fig, [row.name for row in rows])
    fig.update_xaxes(title_text=title)
    fig.update_layout(height=150 + 64 * len(rows), legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return fig


def over_steps(lines: Mapping[str, Mapping[int, Mapping[int, float]]], axes: tuple[str, str]) -> go.Figure:
    """lines: name → steps of pre-training → seed → score. Mean ± sd, a small dot a seed."""
    fig = go.Figure()
    for number, (name, points) in enumerate(lines.items()):
        colour, symbol = PALETTE[number % len(PALETTE)], SYMBOLS[number % len(SYMBOLS)]
        steps = sorted(points)
        values = [list(points[step].values()) for step in steps]
        fig.add_scatter(
            x=steps, y=[statistics.fmean(v) for v in values], mode="lines+markers", name=name,
            line={"color": colour, "width": 3}, marker={"symbol": symbol, "size": 12},
            error_y={"array": [statistics.stdev(v) if len(v) > 1 else 0 for v in values], "thickness": 2.5, "width": 7},
            hovertemplate="%{x:,}: %{y:.1f}<extra></extra>",
        )  # fmt: skip
        dots = [(step, value) for step, v in zip(steps, values, strict=True) for value in v]
        fig.add_scatter(
            x=[x for x, _ in dots], y=[y for _, y in dots], mode="markers", showlegend=False,
            marker={"size": 7, "color": colour, "opacity": 0.4, "symbol": symbol}, hoverinfo="skip",
        )  # fmt: skip
    ticks = sorted({step for points in lines.values() for step in points})
    fig.update_xaxes(type="log", title_text=axes[0], tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    fig.update_yaxes(title_text=axes[1])
    fig.update_layout(height=420, legend={"orientation": "h", "y": -0.25, "x": 0})
    return fig


def loss_curves(curves: Mapping[str, Sequence[tuple[int, float]]], axes: tuple[str, str]) -> go.Figure:
    """curves: run → (step, training loss)."""
    fig = go.Figure()
    for number, (name, points) in enumerate(curves.items()):
        fig.add_scatter(
            x=[step for step, _ in points], y=[loss for _, loss in points], mode="lines", name=name, showlegend=True,
            line={
                "color": PALETTE[number % len(PALETTE)],
                "width": 3,
                "dash": ("solid", "dash", "dot")[number // len(PALETTE) % 3],
            },
            hovertemplate="%{x:,}: %{y:.3f}<extra></extra>",
        )  # fmt: skip
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1])
    fig.update_layout(height=360, uirevision="loss", legend={"orientation": "h", "y": -0.25, "x": 0})
    return fig
