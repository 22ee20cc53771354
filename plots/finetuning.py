"""Figures of fine-tuning runs of any task: learning curves, both starts compared, predictions over time."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal
from plots.theme import BLUE, GREEN, GREY, ORANGE, SMALL, add_marks

STARTS = ("pretrained", "other", "random")
COLOUR = {"pretrained": BLUE, "other": GREEN, "random": ORANGE}
DASH = {"pretrained": "solid", "other": "dash", "random": "dot"}
SYMBOL = {"pretrained": "circle", "other": "square", "random": "diamond-open"}
HATCH = {"pretrained": "", "other": "x", "random": "/"}
MOST_TURNS = 4  # changed predictions written along a run's line; if it changes more often, only the last
FAINT = 0.22  # opacity of recorded runs
FLOOR = {"color": "gray", "dash": "dash", "width": 1.5}  # line of the trivial baseline


@dataclass(frozen=True)
class Curve:
    """Events of a run: (epoch, training loss) per step, (epoch, the task's metric) per evaluation."""

    start: str  # of STARTS
    seed: int
    loss: list[tuple[float, float]] = field(default_factory=list)
    score: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, start: str, seed: int, steps_per_epoch: int, metric: str, events: Iterable[dict]) -> Curve:
        curve, scores = cls(start, seed), {}
        for event in events:
            if event["event"] == "step":
                curve.loss.append((event["step"] / steps_per_epoch, event["loss"]))
            elif event["event"] == "eval":  # the best epoch may be measured twice: where it ends, and when it is kept
                scores[event["step"] / steps_per_epoch] = event["metrics"][metric]
        curve.score.extend(sorted(scores.items()))
        return curve


@dataclass(frozen=True)
class Scale:
    """How a metric is drawn. title: its name · floor: score of the trivial baseline, None if there is none · percent:
    True for a share, False for a correlation, which may be negative."""

    title: str
    floor: float | None = None
    percent: bool = True

    @property
    def tickformat(self) -> str:
        return ".0%" if self.percent else ".1f"

    def range(self, scores: Iterable[float]) -> list[float]:
        """Axis range from a little below the lowest score, or the floor, to 1."""
        lowest = min(scores, default=0.0)
        if self.floor is not None:
            lowest = min(lowest, self.floor)
        return [max(-0.02, lowest - 0.06) if self.percent else min(-0.02, lowest - 0.06), 1.02]


def learning_curves(
    curves: Sequence[Curve],
    names: dict[str, str],
    scale: Scale,
    titles: tuple[str, str],
    *,
    recorded: Sequence[Curve] = (),
    recorded_name: str = "",
    finding: str = "",
) -> go.Figure:
    """Training loss and the metric over epochs; a thin line per run, a thick one for the mean of a start's runs.

    names: start → legend entry · titles: of the loss axis and the x axis · recorded: earlier runs, drawn faintly
    behind; recorded_name: their legend entry · finding: title of the figure.
    """
    fig = make_subplots(rows=1, cols=2, horizontal_spacing=0.12)
    for curve in recorded:
        for column, points in ((1, curve.loss), (2, curve.score)):
            fig.add_scatter(
                x=[x for x, _ in points],
                y=[y for _, y in points],
                mode="lines",
                opacity=FAINT,
                showlegend=False,
                line={"color": COLOUR[curve.start], "width": 7},
                hoverinfo="skip",
                row=1,
                col=column,
            )
    if recorded:
        line = {"color": GREY, "width": 7}
        fig.add_scatter(x=[None], y=[None], mode="lines", line=line, opacity=2 * FAINT, name=recorded_name)
    for start in STARTS:
        group = [curve for curve in curves if curve.start == start]
        for column, values in ((1, [c.loss for c in group]), (2, [c.score for c in group])):
            several = len(group) > 1
            for curve, points in zip(group, values, strict=True):
                add_line(fig, column, points, start, 1.5 if several else 3.5, 0.45 if several else 1.0, str(curve.seed))
            if several:
                add_line(fig, column, mean_line(values), start, 4, 1.0, "")
        if group:
            line = {"color": COLOUR[start], "dash": DASH[start], "width": 3.5}
            fig.add_scatter(
                x=[None], y=[None], mode="lines", line=line, name=escape(names[start], quote=False), showlegend=True
            )
    if not curves and not recorded:  # plotly draws neither empty axes nor lines on them
        for column in (1, 2):
            fig.add_scatter(x=[None], y=[None], showlegend=False, row=1, col=column)
    if scale.floor is not None:
        fig.add_hline(y=scale.floor, line=FLOOR, row=1, col=2)
    fig.update_xaxes(title_text=titles[1], rangemode="tozero")
    fig.update_yaxes(rangemode="tozero", title_text=titles[0], row=1, col=1)
    range_ = scale.range(y for curve in (*curves, *recorded) for _, y in curve.score)
    fig.update_yaxes(tickformat=scale.tickformat, range=range_, title_text=scale.title, row=1, col=2)
    fig.update_layout(
        height=400 if finding else 380, legend={"orientation": "h", "y": -0.22, "x": 0}, uirevision="curves"
    )
    fig.update_layout(title_text=escape(finding, quote=False) or None)
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
    """The mean over runs, up to the shortest run."""
    common = min(map(len, lines))
    return [(lines[0][i][0], statistics.fmean(line[i][1] for line in lines)) for i in range(common)]


def right_by_kind(
    shares: dict[str, dict[str, list[float]]], names: dict[str, str], title: str, finding: str = ""
) -> go.Figure:
    """One bar per start and kind, the mean over runs. shares: start → kind → accuracy of each run."""
    fig = go.Figure()
    kinds = list(dict.fromkeys(kind for by_kind in shares.values() for kind in by_kind))
    for start, by_kind in shares.items():
        means = [statistics.fmean(by_kind[kind]) if by_kind.get(kind) else None for kind in kinds]
        fig.add_bar(
            x=[literal(kind) for kind in kinds],
            y=means,
            name=escape(names[start], quote=False),
            offsetgroup=start,
            marker={"color": COLOUR[start], "pattern": {"shape": HATCH[start]}},
            text=[f"{mean:.0%}" if mean is not None else "" for mean in means],
            textposition="outside",
            cliponaxis=False,
            textfont={"size": SMALL},
            hovertemplate="%{x}: %{y:.1%}<extra></extra>",
        )
    fig.update_yaxes(tickformat=".0%", range=[0, 1.08], title_text=title)
    fig.update_xaxes(type="category")  # a kind may be a number
    fig.update_layout(height=360, barmode="group", legend={"orientation": "h", "y": -0.2, "x": 0})
    fig.update_layout(title_text=escape(finding, quote=False) or None)
    return fig


def comparison(finals: dict[str, list[float]], names: dict[str, str], scale: Scale, finding: str = "") -> go.Figure:
    """Final scores as dots, with mean and standard deviation. finals: start → score of each seed."""
    fig = go.Figure()
    hover = "%{x:.1%}<extra></extra>" if scale.percent else "%{x:.3f}<extra></extra>"
    for row, (start, values) in enumerate(finals.items()):
        add_marks(
            fig,
            values,
            [row] * len(values),
            {"size": 15, "color": COLOUR[start], "symbol": SYMBOL[start], "opacity": 0.75, "line": {"width": 2}},
            hovertemplate=hover,
        )
        if len(values) > 1:
            add_marks(
                fig,
                [statistics.fmean(values)],
                [row + 0.28],
                {"size": 13, "symbol": "line-ns", "line": {"width": 4, "color": COLOUR[start]}},
                hovertemplate=hover,
                error_x={"array": [statistics.stdev(values)], "thickness": 3, "width": 10, "color": COLOUR[start]},
            )
    if scale.floor is not None:
        fig.add_vline(x=scale.floor, line=FLOOR)
    ticks = list(range(len(finals)))
    fig.update_yaxes(
        tickvals=ticks,
        ticktext=[escape(names[start], quote=False) for start in finals],
        range=[len(finals) - 0.4, -0.6],
    )
    range_ = scale.range(value for values in finals.values() for value in values)
    fig.update_xaxes(tickformat=scale.tickformat, title_text=scale.title, range=range_)
    fig.update_layout(height=140 + 80 * len(finals), title_text=escape(finding, quote=False) or None)
    return fig


@dataclass(frozen=True)
class PredictionCurve:
    """Predictions of one run for one input: (epoch, prediction in a few words, its probability or score)."""

    name: str
    start: str
    points: list[tuple[float, str, float]]


def answers_over_time(
    curves: Sequence[PredictionCurve],
    title: str,
    axis: str,
    names: dict[str, str],
    other: str,
    top: float = 1.0,
    finding: str = "",
) -> go.Figure:
    """Probability of each run's prediction over epochs, one line per run. Changed predictions are written at the point
    of change; predictions different from the run's last are crosses.

    names: start → legend entry; other: that of the crosses · top: the highest value; 1 for probabilities.
    """
    fig = go.Figure()
    share = top == 1.0
    last = max((x for one in curves for x, _, _ in one.points), default=0)
    crosses = False
    for one in curves:
        words = [word for _, word, _ in one.points]
        turns = [i for i, word in enumerate(words) if i == 0 or word != words[i - 1]] if share else []
        written = {len(words) - 1, *(turns[1:] if len(turns) <= MOST_TURNS else [])} if share else set()
        text = [escape(short(word)) if i in written else "" for i, word in enumerate(words)]
        same_as_last = [not share or word == words[-1] for word in words]
        crosses |= not all(same_as_last)
        fig.add_scatter(
            x=[x for x, _, _ in one.points],
            y=[y for _, _, y in one.points],
            showlegend=False,
            mode="lines+markers+text",
            text=text,
            textposition=[
                f"{'top' if one.start == 'pretrained' else 'bottom'} {'right' if x < last / 2 else 'left'}"
                for x, _, _ in one.points
            ],
            textfont={"size": SMALL, "color": COLOUR[one.start]},
            cliponaxis=False,
            line={"color": COLOUR[one.start], "dash": DASH[one.start], "width": 2.5},
            marker={"symbol": [SYMBOL[one.start] if same else "x" for same in same_as_last], "size": 10},
            customdata=[escape(short(word)) for word in words],
            hovertemplate=f"{escape(one.name)}<br>%{{x:.2f}}: %{{customdata}} (%{{y:{'.0%' if share else '.2f'}}})"
            "<extra></extra>",
        )
    for start in (start for start in STARTS if any(one.start == start for one in curves)):
        line = {"color": COLOUR[start], "dash": DASH[start], "width": 2.5}
        marker = {"symbol": SYMBOL[start], "size": 10, "color": COLOUR[start]}
        fig.add_scatter(
            x=[None], y=[None], mode="lines+markers", line=line, marker=marker, name=escape(names[start], quote=False)
        )
    if crosses:
        marker = {"symbol": "x", "size": 10, "color": GREY}
        fig.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=other)
    fig.update_yaxes(tickformat=".0%" if share else ".1f", range=[-0.08 * top, 1.12 * top], title_text=title)
    fig.update_xaxes(title_text=axis, rangemode="tozero")
    fig.update_layout(height=360, uirevision="answers", legend={"orientation": "h", "y": -0.28, "x": 0})
    fig.update_layout(title_text=escape(finding, quote=False) or None)
    return fig


def answers_now(curves: Sequence[PredictionCurve], title: str, top: float = 1.0, finding: str = "") -> go.Figure:
    """Last prediction of each run and its probability or score, one bar per run: for inputs entered after training."""
    fig = go.Figure()
    form = ".0%" if top == 1.0 else ".2f"
    for row, one in enumerate(curves):
        _, words, value = one.points[-1]
        fig.add_bar(
            x=[value],
            y=[row],
            orientation="h",
            showlegend=False,
            width=0.6,
            cliponaxis=False,
            textposition="outside",
            text=[escape(f"{short(words)} · {value:{form}}" if top == 1.0 else f"{value:{form}}")],
            textfont={"size": SMALL},
            marker={"color": COLOUR[one.start], "pattern": {"shape": HATCH[one.start]}},
            hovertemplate=f"{escape(one.name)}: {escape(short(words))}<extra></extra>",
        )
    fig.update_yaxes(
        tickvals=list(range(len(curves))),
        ticktext=[escape(one.name) for one in curves],
        range=[len(curves) - 0.4, -0.6],
    )
    fig.update_xaxes(range=[0, 1.35 * top], tickformat=".0%" if top == 1.0 else ".1f", title_text=title)
    fig.update_xaxes(tickvals=[0, 0.25, 0.5, 0.75, 1] if top == 1.0 else None)
    fig.update_layout(height=130 + 42 * len(curves), title_text=escape(finding, quote=False) or None)
    return fig


def short(words: str, most: int = 24) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
