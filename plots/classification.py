"""Figures of fine-tuning runs: curves while they train, then what the models get right and wrong."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.theme import BLUE, ORANGE, SEQUENTIAL, SMALL

STARTS = ("pretrained", "random")
COLOUR = {"pretrained": BLUE, "random": ORANGE}
DASH = {"pretrained": "solid", "random": "dot"}
SYMBOL = {"pretrained": "circle", "random": "diamond-open"}


@dataclass(frozen=True)
class Curve:
    """What a run has reported: (epoch, training loss) by step, (epoch, dev accuracy) by evaluation."""

    start: str  # "pretrained" or "random"
    seed: int
    loss: list[tuple[float, float]] = field(default_factory=list)
    accuracy: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, start: str, seed: int, steps_per_epoch: int, events: Iterable[dict]) -> Curve:
        curve = cls(start, seed)
        for event in events:
            if event["event"] == "step":
                curve.loss.append((event["step"] / steps_per_epoch, event["loss"]))
            elif event["event"] == "eval":
                curve.accuracy.append((event["step"] / steps_per_epoch, event["metrics"]["accuracy"]))
        return curve


def learning_curves(curves: Sequence[Curve], names: dict[str, str], chance: float, titles: tuple[str, str, str]):
    """Training loss and dev accuracy over epochs; a thin line a run, a thick one the mean of a start's runs.

    names: start → words for the legend · chance: accuracy of always answering the commonest class · titles: of the two
    panels and of the horizontal axis.
    """
    fig = make_subplots(rows=1, cols=2, subplot_titles=titles[:2], horizontal_spacing=0.09)
    for start in STARTS:
        group = [curve for curve in curves if curve.start == start]
        for column, values in ((1, [c.loss for c in group]), (2, [c.accuracy for c in group])):
            several = len(group) > 1
            for curve, points in zip(group, values, strict=True):
                add_line(fig, column, points, start, 1.5 if several else 3.5, 0.45 if several else 1.0, str(curve.seed))
            if several:
                add_line(fig, column, mean_line(values), start, 4, 1.0, "")
        if group:
            line = {"color": COLOUR[start], "dash": DASH[start], "width": 3.5}
            fig.add_scatter(x=[None], y=[None], mode="lines", line=line, name=names[start], showlegend=True)
    fig.add_hline(y=chance, line={"color": "gray", "dash": "dash", "width": 1.5}, row=1, col=2)
    fig.update_xaxes(title_text=titles[2], rangemode="tozero")
    fig.update_yaxes(rangemode="tozero", row=1, col=1)
    fig.update_yaxes(tickformat=".0%", range=[min(0.4, chance - 0.05), 1.0], row=1, col=2)
    fig.update_layout(height=380, legend={"orientation": "h", "y": -0.22, "x": 0}, uirevision="curves")
    return fig


def add_line(fig, column: int, points, start: str, width: float, opacity: float, seed: str) -> None:
    fig.add_scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        mode="lines+markers" if column == 2 else "lines",
        marker={"symbol": SYMBOL[start], "size": 4 + width},
        line={"color": COLOUR[start], "dash": DASH[start], "width": width},
        opacity=opacity,
        showlegend=False,
        hovertemplate=(f"seed {seed}<br>" if seed else "mean<br>") + "%{x:.2f}: %{y:.3f}<extra></extra>",
        row=1,
        col=column,
    )


def mean_line(lines: Sequence[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """The mean over runs, as far as every run has come."""
    common = min(map(len, lines))
    return [(lines[0][i][0], statistics.fmean(line[i][1] for line in lines)) for i in range(common)]


def confusion(matrix: Sequence[Sequence[int]], labels: Sequence[str], titles: tuple[str, str]) -> go.Figure:
    """Rows: truth, columns: answer; titles: of the answer axis and the truth axis."""
    largest = max(max(row) for row in matrix) or 1
    fig = go.Figure(
        go.Heatmap(
            z=matrix, x=list(labels), y=list(labels), colorscale=SEQUENTIAL, zmin=0, zmax=largest, showscale=False,
            hovertemplate="%{y} → %{x}: %{z}<extra></extra>", xgap=3, ygap=3,
        )
    )  # fmt: skip
    size = 20 if len(labels) <= 6 else SMALL
    notes = []
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            colour = "black" if count > 0.6 * largest else "white"  # Viridis is light at its upper end
            font = {"size": size, "color": colour}
            notes.append({"x": labels[j], "y": labels[i], "text": str(count), "showarrow": False, "font": font})
    # All at once: one by one they take seconds for twenty classes.
    fig.update_layout(height=max(280, 60 * len(labels) + 140), annotations=notes)
    fig.update_xaxes(title_text=titles[0], type="category", side="bottom", constrain="domain")
    fig.update_yaxes(title_text=titles[1], type="category", autorange="reversed", scaleanchor="x", constrain="domain")
    return fig


def accuracy_by_kind(shares: dict[str, dict[str, list[float]]], names: dict[str, str], title: str) -> go.Figure:
    """shares: start → kind → accuracy of each run. A dot a run, a bar at their mean."""
    fig = go.Figure()
    kinds = list(dict.fromkeys(kind for by_kind in shares.values() for kind in by_kind))
    for start, by_kind in shares.items():
        means = [statistics.fmean(by_kind[kind]) if by_kind.get(kind) else None for kind in kinds]
        fig.add_bar(
            x=kinds, y=means, name=names[start], offsetgroup=start,
            marker={"color": COLOUR[start], "pattern": {"shape": "/" if start == "random" else ""}},
            text=[f"{mean:.0%}" if mean is not None else "" for mean in means],
            textposition="outside", cliponaxis=False, textfont={"size": SMALL},
            hovertemplate="%{x}: %{y:.1%}<extra></extra>",
        )  # fmt: skip
    fig.update_yaxes(tickformat=".0%", range=[0, 1.08], title_text=title)
    fig.update_layout(height=340, barmode="group", legend={"orientation": "h", "y": -0.2, "x": 0})
    return fig


def comparison(finals: dict[str, list[float]], names: dict[str, str], chance: float, title: str) -> go.Figure:
    """finals: start → final dev accuracy of each seed. Dots, with mean and standard deviation beside them."""
    fig = go.Figure()
    for row, (start, values) in enumerate(finals.items()):
        fig.add_scatter(
            x=values, y=[row] * len(values), mode="markers", showlegend=False,
            marker={"size": 15, "color": COLOUR[start], "symbol": SYMBOL[start], "opacity": 0.75, "line": {"width": 2}},
            hovertemplate="%{x:.1%}<extra></extra>",
        )  # fmt: skip
        if len(values) > 1:
            fig.add_scatter(
                x=[statistics.fmean(values)], y=[row + 0.28], mode="markers", showlegend=False,
                error_x={"array": [statistics.stdev(values)], "thickness": 3, "width": 10, "color": COLOUR[start]},
                marker={"size": 13, "symbol": "line-ns", "line": {"width": 4, "color": COLOUR[start]}},
                hovertemplate="%{x:.1%}<extra></extra>",
            )  # fmt: skip
    fig.add_vline(x=chance, line={"color": "gray", "dash": "dash", "width": 1.5})
    ticks = list(range(len(finals)))
    fig.update_yaxes(tickvals=ticks, ticktext=[names[start] for start in finals], range=[len(finals) - 0.4, -0.6])
    lowest = min([chance, *(value for values in finals.values() for value in values)])
    fig.update_xaxes(tickformat=".0%", title_text=title, range=[min(0.4, lowest - 0.05), 1.0])
    fig.update_layout(height=110 + 80 * len(finals))
    return fig


def answers_over_time(
    histories: dict[str, dict[str, list[tuple[float, float]]]], names: dict[str, str], title: str, axis: str
):
    """histories: run name → {"start": …, label → [(epoch, probability)]}: how sure each run is of one class."""
    fig = go.Figure()
    for name, history in histories.items():
        start = names[name]
        points = next(iter(history.values()))
        fig.add_scatter(
            x=[x for x, _ in points], y=[y for _, y in points], mode="lines+markers", showlegend=False,
            line={"color": COLOUR[start], "dash": DASH[start], "width": 2.5},
            marker={"symbol": SYMBOL[start], "size": 8},
            hovertemplate=f"{name}<br>%{{x:.2f}}: %{{y:.1%}}<extra></extra>",
        )  # fmt: skip
    fig.add_hline(y=0.5, line={"color": "gray", "dash": "dash", "width": 1.5})
    fig.update_yaxes(tickformat=".0%", range=[0, 1], title_text=title)
    fig.update_xaxes(title_text=axis, rangemode="tozero")
    fig.update_layout(height=280, uirevision="answers")
    return fig
