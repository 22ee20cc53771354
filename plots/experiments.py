"""Figures of the paper's ablations at small scale: scores of arms, differences to the base, curves over steps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from minibert.experiments.results import NO_VERDICT
from plots.grammar import OURS, PAPER
from plots.theme import (
    DOTTED,
    GREEN,
    GREY,
    LEGEND_ABOVE,
    PALETTE,
    PINK,
    SMALL,
    VERMILION,
    add_marks,
    add_text,
    broken,
    fit_axis,
    line_below_names,
    name_rows,
    name_rows_above,
    titled,
)

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
NO_DIRECTION = ("no difference in the paper", "not in the paper")
VERDICT_COLOUR = {"agrees": GREEN, "disagrees": PINK, "unclear": GREY} | dict.fromkeys(NO_DIRECTION + NO_VERDICT, GREY)
VERDICT_SYMBOL = {"agrees": "circle", "disagrees": "x", "unclear": "circle-open"}
VERDICT_SYMBOL |= dict.fromkeys(NO_DIRECTION, "square-open") | dict.fromkeys(NO_VERDICT, "diamond-open")
VERDICT_MARK = {"agrees": "●", "disagrees": "✖", "unclear": "○"} | dict.fromkeys(NO_DIRECTION, "□")
VERDICT_MARK |= dict.fromkeys(NO_VERDICT, "◇")


@dataclass(frozen=True)
class Score:
    """Scores of an arm in one metric: the paper's, if any; ours by seed; and those of the user's own runs."""

    name: str
    paper: float | None
    ours: Mapping[int, float]
    own: Sequence[float] = ()


@dataclass(frozen=True)
class Gap:
    """Difference between two arms: the paper's, and ours with half the width of its interval (None for one seed)."""

    name: str
    paper: float | None
    ours: float | None
    half: float | None
    verdict: str


LOW = 46  # pixels of a row of differences
LINE = 22  # of a further line of an axis' title
HIGH = 62  # pixels of a row of scores: from its middle, where the paper's is, in rows: foot of its name, mean, dots
NAME, MEAN, DOTS = 0.16, 0.24, 0.4
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)  # of a perplexity axis


def in_legend(fig: go.Figure, name: str, mode: str = "markers", **look) -> None:
    fig.add_scatter(x=[None], y=[None], mode=mode, name=name, **look)


def scores(
    rows: Sequence[Score],
    titles: tuple[str, str],
    axis: tuple[str, str],
    seed_word: str,
    floor: float | None = None,
    *,
    title: str = "",
    own: str = "",
) -> go.Figure:
    """Two panels, each on its own scale: the paper's numbers; and ours, one dot per seed and mean ± sd.

    floor: score of a trivial baseline, a dotted line · own: name of the user's runs.
    """
    with_paper = any(row.paper is not None for row in rows)
    titles = tuple(broken(one, 20) for one in titles)  # of panels half as wide as a phone
    fig = make_subplots(
        rows=1,
        cols=1 + with_paper,
        subplot_titles=titles if with_paper else titles[1:],
        shared_yaxes=True,
        horizontal_spacing=0.06,
    )
    ours = 1 + with_paper
    theirs = [row.paper for row in rows if row.paper is not None]
    digits = max((len(f"{row.paper:g}".partition(".")[2]) for row in rows if row.paper is not None), default=0)
    for y, row in enumerate(rows):
        if with_paper and row.paper is not None:
            fig.add_scatter(
                x=[row.paper],
                y=[y],
                mode="markers+text",
                text=[f"{row.paper:.{digits}f}"],
                # beside its mark, on the side with room: above it stand the names
                textposition="middle right" if 2 * row.paper < min(theirs) + max(theirs) else "middle left",
                textfont={"size": SMALL},
                marker={"size": 15, "color": PAPER, "symbol": "diamond"},
                showlegend=False,
                cliponaxis=False,
                hovertemplate="%{x}<extra></extra>",
                row=1,
                col=1,
            )
        if not row.ours:
            continue
        values = list(row.ours.values())
        add_marks(
            fig,
            values,
            [y + DOTS] * len(values),
            {"size": 10, "color": OURS, "opacity": 0.75},
            customdata=list(row.ours),
            hover=f"{seed_word} %{{customdata}}: %{{x:.2f}}",
            row=1,
            col=ours,
        )
        spread = {"array": [statistics.stdev(values)], "thickness": 3, "width": 9} if len(values) > 1 else None
        mean = statistics.fmean(values)
        fig.add_scatter(
            x=[mean],
            y=[y + MEAN],
            mode="markers+text",
            error_x=spread,
            text=[f"{mean:.1f}"],
            showlegend=False,
            textposition="top center",
            textfont={"size": SMALL},
            marker={"size": 14, "color": OURS, "symbol": "line-ns", "line": {"width": 4, "color": OURS}},
            cliponaxis=False,
            hovertemplate="%{x:.2f}<extra></extra>",
            row=1,
            col=ours,
        )
    for y, row in enumerate(rows):
        if row.own:
            add_marks(
                fig,
                list(row.own),
                [y + DOTS] * len(row.own),
                {"size": 20, "color": VERMILION, "symbol": "star", "line": {"width": 1.5, "color": "#222222"}},
                hover=f"{own}: %{{x:.1f}}",
                row=1,
                col=ours,
            )
    names = [row.name for row in rows]
    room = [len(rows) - 0.45, -0.6]  # else the first row's name touches the panels' titles
    name_rows_above(fig, names, NAME, range=room, row=1, col=1)
    if with_paper:
        name_rows(fig, names, range=room, showticklabels=False, row=1, col=2)
        pad_axis(fig, [row.paper for row in rows if row.paper is not None], axis[0], col=1)
    values = [value for row in rows for value in (*row.ours.values(), *row.own)]
    pad_axis(fig, values if floor is None or not values else [*values, floor], axis[1], col=ours)
    if floor is not None and values:
        line_below_names(fig, floor, len(rows), NAME, HIGH, DOTTED, "2" if with_paper else "")
    fig.update_layout(height=130 + HIGH * len(rows), margin_t=28 + 22 * max(one.count("<br>") for one in titles))
    if title:
        fig.update_layout(title={"text": title, "y": 0.99, "yanchor": "top"}, margin={"t": 84})
    return fig


def pad_axis(fig: go.Figure, values: Sequence[float], title: str, col: int) -> None:
    """Axis range with room for the numbers at both ends."""
    if values:
        room = max(0.15 * (max(values) - min(values)), 0.5)
        fig.update_xaxes(range=[min(values) - room, max(values) + room], row=1, col=col)
    fig.update_xaxes(title={"text": broken(title, 20), "font": {"size": SMALL}}, row=1, col=col)


def on_one_scale(
    rows: Sequence[Score],
    names: tuple[str, str, str],
    axis: str,
    floor: float | None = None,
    *,
    title: str,
    own: str = "",
    log: bool = False,
    places: tuple[Callable[[float], float], Callable[[float], float]] | None = None,
) -> go.Figure:
    """The paper's numbers and ours below each other in every row, its name above, on one common scale that includes the
    trivial baseline `floor`.

    names: legend entries of the paper's points, ours (one dot per seed, mean ± sd), and the floor · own: name of the
    user's runs · log: logarithmic scale, for perplexities · places: where on the scale a number of the paper's stands,
    and one of ours, also of the floor, to at most 100; by default, where it says.
    """
    theirs, mine = places or (float, float)
    fig, ends = go.Figure(), []
    upper, lower = (-0.06, 0.28) if any(row.paper is not None for row in rows) else (0.0, 0.12)
    for y, row in enumerate(rows):
        if row.paper is not None:
            fig.add_scatter(
                x=[theirs(row.paper)],
                y=[y + upper],
                mode="markers+text",
                text=[f"{row.paper:g}"],
                textposition="middle right",
                textfont={"size": SMALL},
                marker={"size": 14, "color": PAPER, "symbol": "diamond"},
                showlegend=False,
                cliponaxis=False,
                hovertemplate=f"{row.paper:g}<extra></extra>",
            )
        values = list(row.ours.values())
        mean, placed = statistics.fmean(values), [mine(value) for value in values]
        middle, deviation = statistics.fmean(placed), statistics.stdev(placed) if len(values) > 1 else 0.0
        add_marks(
            fig,
            placed,
            [y + lower] * len(values),
            {"size": 9, "color": OURS, "opacity": 0.6},
            customdata=list(row.ours.items()),
            hover="%{customdata[0]}: %{customdata[1]:.2f}",
        )
        spread = {"array": [deviation], "thickness": 3, "width": 8} if len(values) > 1 else None
        add_marks(
            fig,
            [middle],
            [y + lower],
            {"size": 18, "color": OURS, "symbol": "line-ns", "line": {"width": 4, "color": OURS}},
            error_x=spread,
            hover=f"{mean:.2f}",
        )
        # Right of everything else in the row, so that it covers no dot and no error bar.
        stars = [mine(value) for value in row.own]
        ends.append(max([*placed, *stars, middle + deviation]))
        add_text(fig, ends[-1:], [y + lower], [f"  {mean:.1f}"])
        if row.own:
            add_marks(
                fig,
                stars,
                [y + lower] * len(stars),
                {"size": 19, "color": VERMILION, "symbol": "star", "line": {"width": 1.5, "color": "#222222"}},
                customdata=list(row.own),
                hover=f"{own}: %{{customdata:.1f}}",
            )
    keys = [(names[1], "circle", OURS)]
    if any(row.paper is not None for row in rows):
        keys.insert(0, (names[0], "diamond", PAPER))
    if any(row.own for row in rows):
        keys.append((own, "star", VERMILION))
    for name, symbol, colour in keys:
        in_legend(fig, name, marker={"size": 12, "symbol": symbol, "color": colour})
    if floor is not None:
        line_below_names(fig, mine(floor), len(rows), 0.22, HIGH, DOTTED)
        in_legend(fig, names[2], mode="lines", line=DOTTED)
    name_rows_above(fig, [row.name for row in rows], 0.22)
    shown = [theirs(row.paper) for row in rows if row.paper is not None]
    shown += [mine(x) for row in rows for x in (*row.ours.values(), *row.own)]
    shown += [*ends, 100.0] if places else ends
    one_scale(fig, shown + ([] if floor is None else [mine(floor)]), log)
    fig.update_xaxes(title_text=broken(axis))
    fig.update_layout(
        height=max(170 + HIGH * len(rows), 380),
        showlegend=True,
        title={"text": title, "y": 0.99, "yanchor": "top"},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        margin={"t": 84, "r": 20},
    )
    return fig


def one_scale(fig: go.Figure, values: Sequence[float], log: bool) -> None:
    """Axis range from the smallest to the largest value, with room for a number on the right."""
    low, high = (min(values), max(values)) if not log else (math.log10(min(values)), math.log10(max(values)))
    room = max(high - low, 0.2 if log else 5)
    fig.update_xaxes(range=[low - 0.05 * room, high + 0.15 * room], type="log" if log else "linear")
    if log:
        ticks = [t for t in TICKS if low - 0.4 <= math.log10(t) <= high + 0.3]
        fig.update_xaxes(tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])


def by_kind(
    lines: Mapping[str, Mapping[str, Mapping[int, float]]], kinds: Mapping[str, str], axis: str, *, title: str
) -> go.Figure:
    """One bar per arm and kind, at the mean; a dot per seed. lines: arm → kind → seed → percent · kinds: → labels."""
    fig = go.Figure()
    rows = list(kinds)
    step = 0.8 / max(len(lines), 1)
    for number, (name, found) in enumerate(lines.items()):
        colour = PALETTE[number % len(PALETTE)]
        offset = (number - (len(lines) - 1) / 2) * step
        points = [(y, list(found[kind].values())) for y, kind in enumerate(rows) if kind in found]
        fig.add_bar(
            x=[statistics.fmean(values) for _, values in points],
            y=[y + offset for y, _ in points],
            width=0.9 * step,
            orientation="h",
            name=name,
            marker={"color": colour},
            hovertemplate="%{x:.0f}<extra></extra>",
        )
        add_marks(
            fig,
            [value for _, values in points for value in values],
            [y + offset for y, values in points for _ in values],
            {"size": 7, "color": "#ffffff", "line": {"width": 1.5, "color": "#222222"}},
            hoverinfo="skip",
        )
    name_rows(fig, list(kinds.values()))
    fig.update_xaxes(title_text=broken(axis, 22), range=[0, 103])
    fig.update_layout(
        height=170 + (18 + 18 * len(lines)) * len(rows),
        showlegend=True,
        barmode="overlay",
        title={"text": title, "y": 0.99, "yanchor": "top"},
        margin={"t": 84},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    return fig


def differences(rows: Sequence[Gap], names: tuple[str, str], axis: str, title: str = "") -> go.Figure:
    """Differences between arms on one scale: the paper's as a diamond, ours with 95 % interval, coloured by verdict.

    names: of the paper's points and of ours, for the legend.
    """
    fig = go.Figure()
    line_below_names(fig, 0, len(rows), 0.14, LOW, {"color": GREY, "width": 2})
    for y, row in enumerate(rows):
        if row.paper is not None:
            add_marks(
                fig, [row.paper], [y + 0.06], {"size": 15, "color": PAPER, "symbol": "diamond"}, hover="%{x:+.1f}"
            )
        if row.ours is not None:
            colour = VERDICT_COLOUR[row.verdict]
            error = None
            if row.half is not None:
                error = {"array": [row.half], "thickness": 3, "width": 9, "color": colour}
            add_marks(
                fig,
                [row.ours],
                [y + 0.33],
                {
                    "size": 14,
                    "color": colour,
                    "symbol": VERDICT_SYMBOL[row.verdict],
                    "line": {"width": 3, "color": colour},
                },
                error_x=error,
                hover="%{x:+.2f}",
            )
    keys = [(names[0], "diamond", PAPER)] if any(row.paper is not None for row in rows) else []
    for name, symbol, colour in (*keys, (names[1], "circle", GREY)):
        in_legend(fig, name, marker={"size": 13, "symbol": symbol, "color": colour})
    fig.update_layout(showlegend=True)
    name_rows_above(fig, [row.name for row in rows], 0.14, range=[len(rows) - 0.42, -0.5])
    ours = [row.ours + side * (row.half or 0) for row in rows if row.ours is not None for side in (-1, 1)]
    axis = broken(axis)
    fit_axis(fig, [0.0, *ours, *(row.paper for row in rows if row.paper is not None)], title_text=axis)
    fig.update_layout(height=150 + LOW * len(rows) + LINE * axis.count("<br>"), legend=LEGEND_ABOVE)
    if title:
        fig.update_layout(title={"text": title, "y": 0.99, "yanchor": "top"}, margin={"t": 84})
    return fig


def reached(rows: Sequence[tuple[str, float, float]], names: tuple[str, str], axis: str, title: str) -> go.Figure:
    """A line from one score to another for each (name, before, after), its name above it. names: legend entries of
    before and after."""
    fig, lower = go.Figure(), 0.15  # of a row, to leave the name room
    for row, (_name, before, after) in enumerate(rows):
        fig.add_scatter(
            x=[before, after],
            y=[row + lower, row + lower],
            mode="lines",
            line={"color": GREY, "width": 3},
            hoverinfo="skip",
            showlegend=False,
        )
    looks = ((GREY, "circle-open", "middle left"), (PAPER, "circle", "middle right"))
    for at, (name, (colour, symbol, where)) in enumerate(zip(names, looks, strict=True), 1):
        fig.add_scatter(
            x=[row[at] for row in rows],
            y=[row + lower for row in range(len(rows))],
            mode="markers+text",
            name=name,
            cliponaxis=False,
            marker={"color": colour, "symbol": symbol, "size": 13, "line": {"width": 2, "color": colour}},
            text=[f"{row[at]:.1f} " if at == 1 else f" {row[at]:.1f}" for row in rows],
            textposition=where,
        )
    values = [value for row in rows for value in row[1:]]
    low, high = min(values) - 10, max(values) + 10
    add_text(fig, [low] * len(rows), [row - 0.3 for row in range(len(rows))], [row[0] for row in rows])
    name_rows(fig, [""] * len(rows))
    fig.update_xaxes(title_text=axis, range=[low, high])
    fig.update_layout(height=110 + 44 * len(rows), showlegend=True)
    fig.update_layout(legend=LEGEND_ABOVE)
    return titled(fig, title)


def over_steps(
    lines: Mapping[str, Mapping[int, Mapping[int, float]]],
    axes: tuple[str, str],
    floor: tuple[float, str] | None = None,
    *,
    title: str = "",
) -> go.Figure:
    """Mean ± sd over steps, one small dot per seed. lines: name → steps of pre-training → seed → score · floor: (score
    of a trivial baseline, its name), a dotted line."""
    fig = go.Figure()
    for number, (name, points) in enumerate(lines.items()):
        colour, symbol = PALETTE[number % len(PALETTE)], SYMBOLS[number % len(SYMBOLS)]
        steps = sorted(points)
        values = [list(points[step].values()) for step in steps]
        fig.add_scatter(
            x=steps,
            y=[statistics.fmean(v) for v in values],
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 3},
            marker={"symbol": symbol, "size": 12},
            error_y={"array": [statistics.stdev(v) if len(v) > 1 else 0 for v in values], "thickness": 2.5, "width": 7},
            hovertemplate="%{x:,}: %{y:.1f}<extra></extra>",
        )
        dots = [(step, value) for step, v in zip(steps, values, strict=True) for value in v]
        add_marks(
            fig,
            [x for x, _ in dots],
            [y for _, y in dots],
            {"size": 7, "color": colour, "opacity": 0.4, "symbol": symbol},
            hoverinfo="skip",
        )
    if floor is not None:
        fig.add_hline(y=floor[0], line=DOTTED)
        in_legend(fig, floor[1], mode="lines", line=DOTTED)
    ticks = sorted({step for points in lines.values() for step in points})
    fig.update_xaxes(type="log", title_text=axes[0], tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    fig.update_yaxes(title_text=axes[1])
    fig.update_layout(
        height=420,
        showlegend=True,
        title={"text": title, "y": 0.99, "yanchor": "top"},
        margin={"t": 84},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    return fig


def loss_curves(
    panels: Mapping[str, Mapping[str, Sequence[tuple[int, float]]]], axes: tuple[str, str], title: str = ""
) -> go.Figure:
    """panels: objective → run → (step, training loss). Runs share a panel and a scale only if they have the same
    objective: losses of different objectives are not comparable."""
    fig = make_subplots(
        rows=1, cols=max(len(panels), 1), subplot_titles=list(panels), horizontal_spacing=0.09, x_title=axes[0]
    )
    number = 0
    for column, curves in enumerate(panels.values(), 1):
        for name, points in curves.items():
            fig.add_scatter(
                x=[step for step, _ in points],
                y=[loss for _, loss in points],
                mode="lines",
                name=name,
                line={
                    "color": PALETTE[number % len(PALETTE)],
                    "width": 3,
                    "dash": ("solid", "dash", "dot")[number // len(PALETTE) % 3],
                },
                showlegend=True,
                hovertemplate="%{x:,}: %{y:.3f}<extra></extra>",
                row=1,
                col=column,
            )
            number += 1
        fig.update_xaxes(rangemode="tozero", row=1, col=column)
    fig.update_yaxes(title_text=axes[1], row=1, col=1)
    fig.update_layout(
        height=400,
        uirevision="loss",
        legend={"orientation": "h", "y": -0.25, "x": 0},
        title={"text": title, "y": 0.99, "yanchor": "top"},
        margin={"t": 84},
    )
    return fig
