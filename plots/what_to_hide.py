"""Figures of masking strategies: shares with intervals, differences by task; and of continual multi-task training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.marks import LEGEND_ABOVE, add_line
from plots.theme import BLUE, GREEN, GREY, ORANGE, PALETTE, SMALL, VERMILION, add_notes, titled

# Colour, dash, marker and pattern of each task, in the order in which tasks are added.
TASKS = (
    (BLUE, "solid", "circle", ""),
    (VERMILION, "dash", "diamond", "/"),
    (GREEN, "dot", "square", "."),
    (ORANGE, "dashdot", "x", "x"),
)


def shares(rows: Mapping[str, tuple[float, float, float]], axis: str) -> go.Figure:
    """Bars with intervals. rows: name → (share, low, high), the first on top · axis: title of the x axis."""
    names = list(rows)
    values = [share for share, _, _ in rows.values()]
    fig = go.Figure(
        go.Bar(
            x=values,
            y=names,
            orientation="h",
            marker_color=PALETTE[0],
            error_x={
                "type": "data",
                "symmetric": False,
                "color": GREY,
                "thickness": 3,
                "array": [high - share for share, _, high in rows.values()],
                "arrayminus": [share - low for share, low, _ in rows.values()],
            },
            text=[f"{value:.0%}" for value in values],
            textposition="inside",
            insidetextanchor="start",
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    )
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(title=axis, tickformat=".0%", range=[0, 1])
    fig.update_layout(height=80 + 46 * len(names), margin={"l": 10, "r": 10, "t": 40, "b": 40})
    return fig


def differences(tables: Mapping[str, Mapping[str, float]], axis: str) -> go.Figure:
    """Bars grouped by table, which differ by pattern and colour. tables: name → task → difference in points, negative
    for worse."""
    fig = go.Figure()
    for number, (name, gaps) in enumerate(tables.items()):
        fig.add_bar(
            x=list(gaps.values()),
            y=[f"{name} · {task}" for task in gaps],
            orientation="h",
            name=name,
            marker={"color": PALETTE[number], "pattern": {"shape": "/" if number else ""}},
            text=[f"{value:+.1f}".replace("-", "−") for value in gaps.values()],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:+.1f}<extra></extra>",
        )
    values = [value for gaps in tables.values() for value in gaps.values()]
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(title=axis, range=[min(values) - 2, max(values) + 1.5], zeroline=True)
    fig.update_layout(height=110 + 30 * len(values), showlegend=False, margin={"l": 10, "r": 30, "t": 40, "b": 40})
    return fig


def trained_when(
    plans: Mapping[str, Sequence[Mapping[str, int]]], tasks: Mapping[str, str], axis: str, title: str
) -> go.Figure:
    """Schedule of each regime: one line per task, with a bar and the number of steps for each stage in which the task
    is trained. plans: regime → stages, each task → steps · tasks: task → its name."""
    fig, lanes, notes = go.Figure(), list(tasks), []
    for lane, (task, name) in enumerate(tasks.items()):
        colour, _dash, _marker, pattern = TASKS[lane]
        bars = [
            (row * (len(lanes) + 1) + lane, start, sum(stage.values()), stage[task])
            for row, plan in enumerate(plans.values())
            for start, stage in zip(_starts(plan), plan, strict=True)
            if stage.get(task)
        ]
        y, base, width, steps = zip(*bars, strict=True)
        fig.add_bar(
            y=y,
            base=base,
            x=width,
            orientation="h",
            width=0.86,
            name=name,
            customdata=steps,
            marker={
                "color": colour,
                "line": {"width": 1},
                "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": "rgba(0,0,0,0.45)", "solidity": 0.12},
            },
            hovertemplate=f"{name}: %{{customdata}}<extra></extra>",
        )
        for at, begin, wide, count in bars:
            paper = {"bgcolor": "#FFFFFF", "opacity": 0.92, "borderpad": 1}
            number = {"text": f"{count:,}", "showarrow": False, "font": {"size": SMALL, "color": "#000000"}}
            notes.append({"x": begin + wide / 2, "y": at} | number | paper)
    add_notes(fig, notes)
    feet = [row * (len(lanes) + 1) - 0.45 for row in range(len(plans))]  # of the names, above their lanes
    bottom = len(plans) * (len(lanes) + 1) - 1
    inside = {"ticklabelposition": "inside top", "ticklabeloverflow": "allow"}
    fig.update_yaxes(tickvals=feet, ticktext=list(plans), range=[bottom - 0.3, -1.5], showgrid=False, **inside)
    most = max(sum(sum(stage.values()) for stage in plan) for plan in plans.values())
    fig.update_xaxes(title_text=axis, range=[0, most])
    fig.update_layout(
        barmode="overlay",
        height=120 + 108 * len(plans),
        showlegend=True,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        legend=LEGEND_ABOVE | {"font": {"size": SMALL}},
    )
    return titled(fig, title)


def learned(
    marks: Mapping[str, Mapping[str, Sequence[tuple[int, float]]]],
    plans: Mapping[str, Sequence[Mapping[str, int]]],
    tasks: Mapping[str, str],
    axis: str,
) -> go.Figure:
    """One panel per regime: accuracy of each task over the steps; a dotted line at the start of each stage. marks:
    regime → task → (step, accuracy)s."""
    fig = make_subplots(rows=1, cols=len(marks), subplot_titles=list(marks), shared_yaxes=True, horizontal_spacing=0.05)
    for column, (regime, lines) in enumerate(marks.items(), 1):
        for lane, (task, name) in enumerate(tasks.items()):
            x, y = ([point[i] for point in lines.get(task, [])] for i in (0, 1))
            grouped = {"legendgroup": task, "showlegend": column == 1, "row": 1, "col": column}
            add_line(fig, x, y, name, TASKS[lane][:3], ".0%", size=8, **grouped)
        for start in _starts(plans[regime])[1:]:
            fig.add_vline(x=start, line={"dash": "dot", "width": 2, "color": GREY}, row=1, col=column)
        total = sum(sum(stage.values()) for stage in plans[regime])
        fig.update_xaxes(title_text=axis, range=[-0.02 * total, 1.02 * total], row=1, col=column)
    fig.update_yaxes(tickformat=".0%", range=[0, 1.04])
    legend = LEGEND_ABOVE | {"y": 1.12, "font": {"size": SMALL}}
    return fig.update_layout(height=400, showlegend=True, margin={"t": 90}, legend=legend)


def _starts(plan: Sequence[Mapping[str, int]]) -> list[int]:
    """The step at which each stage begins."""
    lengths = [sum(stage.values()) for stage in plan]
    return [sum(lengths[:number]) for number in range(len(plan))]
