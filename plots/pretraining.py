"""Figures of pre-training: live curves, and predictions and word vectors at the saved steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from plots import marks
from plots.attention import literal, token_label
from plots.marks import LEGEND_ABOVE, add_line, number_axis
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION

AXES = ("step", "seconds", "tokens")
END = 0.01  # of its highest learning rate: a schedule that is lower has ended
# Runs and words differ by colour, dash and symbol.
LOOKS = (
    (BLUE, "solid", "circle"),
    (ORANGE, "dash", "diamond"),
    (GREEN, "dot", "square"),
    (PINK, "dashdot", "triangle-up"),
    (VERMILION, "longdash", "x"),
    (SKY, "longdashdot", "star"),
)
At = tuple[float, float, float]  # a position in a run, in the units of AXES


@dataclass(frozen=True)
class History:
    """Events of a run: quantity → [(position, value)]. Quantities of training batches are named as the fields and parts
    of a "step" event ("lr", "mlm_loss"); metrics on held-out text are named "held out: <metric>".

    restarts: where training went on with a new schedule, seen by a learning rate that leaps up from almost 0.
    """

    name: str
    points: dict[str, list[tuple[At, float]]] = field(default_factory=dict)
    restarts: list[At] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, events: Iterable[dict]) -> History:
        history = cls(name)
        here: At = (0.0, 0.0, 0.0)
        last = highest = 0.0  # learning rates
        for event in events:
            if event["event"] == "step":
                if last < END * highest and event["lr"] > 3 * last:
                    history.restarts.append(here)
                last, highest = event["lr"], max(highest, event["lr"])
                here = (event["step"], event["seconds"], event["tokens"])
                values = {"loss": event["loss"], "lr": event["lr"], "tokens_per_second": event["tokens_per_second"]}
                values |= event["parts"]
            elif event["event"] == "eval":
                values = {f"held out: {metric}": value for metric, value in event["metrics"].items()}
            else:
                continue
            for quantity, value in values.items():
                history.points.setdefault(quantity, []).append((here, value))
        return history

    def last(self, quantity: str) -> float | None:
        return self.points[quantity][-1][1] if quantity in self.points else None


@dataclass(frozen=True)
class CurvePanel:
    """line: quantity of training batches, drawn as a line · marks: quantity of held-out text, drawn with markers ·
    references: label → value of a horizontal line · percent: whether values are shares from 0 to 1."""

    title: str
    line: str | None = None
    marks: str | None = None
    references: Mapping[str, float] = field(default_factory=dict)
    percent: bool = False


def learning_curves(
    histories: Sequence[History], panels: Sequence[CurvePanel], axis: str, axis_title: str
) -> go.Figure:
    """The panels, two per row; each run has a colour, dash and symbol. axis: one of AXES."""
    place = AXES.index(axis)
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / 2)
    fig = marks.panels(
        [panel.title for panel in panels],
        rows=rows,
        columns=columns,
        horizontal_spacing=0.1 if rows > 1 else 0.16,
        vertical_spacing=0.3 / max(rows, 1) if rows > 1 else 0,
    )
    for number, panel in enumerate(panels):
        row, column = number // 2 + 1, number % 2 + 1
        for index, history in enumerate(histories):
            for quantity, mode in ((panel.line, "lines"), (panel.marks, "lines+markers")):
                points = history.points.get(quantity, [])
                if not points:
                    continue
                faint = mode == "lines" and bool(history.points.get(panel.marks))
                value = "%{y:.1%}" if panel.percent else "%{y:.4~g}"
                add_line(
                    fig,
                    np.array([at[place] for at, _ in points]),
                    np.array([value for _, value in points]),
                    history.name,
                    LOOKS[index % len(LOOKS)],
                    width=1.5 if faint else 3,
                    size=8,
                    mode=mode,
                    opacity=0.55 if faint else 1,
                    showlegend=False,
                    hovertemplate=f"{literal(history.name)}<br>%{{x:,.0f}}: {value}<extra></extra>",
                    row=row,
                    col=column,
                )
        for at in [at for history in histories for at in history.restarts]:
            fig.add_vline(x=at[place], line={"color": GREY, "dash": "dot", "width": 2}, row=row, col=column)
        for words, height in panel.references.items():
            note = {"text": words, "font": {"size": SMALL}, "yanchor": "bottom"}
            named = {"annotation": note, "annotation_position": "top right"}
            fig.add_hline(y=height, line={"color": GREY, "dash": "dash", "width": 2}, **named, row=row, col=column)
        if panel.percent:
            fig.update_yaxes(tickformat=".0%", range=[0, 1.04], row=row, col=column)
        else:
            fig.update_yaxes(rangemode="tozero", row=row, col=column)
        if number >= len(panels) - 2:
            fig.update_xaxes(title_text=axis_title, row=row, col=column)
    for index, history in enumerate(histories):
        add_line(fig, [None], [None], history.name, LOOKS[index % len(LOOKS)], size=8)
    fig.update_xaxes(rangemode="tozero", tickformat="~s" if axis == "tokens" else None)
    fig.update_layout(
        height=240 * rows + 70,
        margin={"t": 36},
        showlegend=len(histories) > 1,
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        uirevision=f"curves {axis}",
    )
    return fig


def right_by_kind(shares: Mapping[str, Mapping[str, float]], axis_title: str) -> go.Figure:
    """One bar per kind and run, sorted by the first run's accuracies. shares: run → kind → accuracy."""
    first = next(iter(shares.values()))
    kinds = sorted(first, key=first.__getitem__)
    fig = go.Figure()
    for index, (name, values) in enumerate(shares.items()):
        fig.add_bar(
            x=[values.get(kind) for kind in kinds],
            y=kinds,
            orientation="h",
            name=literal(name),
            marker={"color": LOOKS[index % len(LOOKS)][0], "pattern": {"shape": ("", "/", ".", "x")[index % 4]}},
            text=[f"{values[kind]:.0%}" if kind in values else "" for kind in kinds],
            textposition="outside",
            textfont={"size": SMALL},
            constraintext="none",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    fig.update_xaxes(tickformat=".0%", range=[0, 1.3], tickvals=[0, 0.5, 1], title_text=axis_title)
    fig.update_yaxes(showgrid=False)
    height, named = 90 + (8 + 20 * len(shares)) * len(kinds), len(shares) > 1
    return fig.update_layout(height=height, barmode="group", bargap=0.25, showlegend=named, legend=LEGEND_ABOVE)


def answers_over_steps(
    steps: Sequence[str], answers: Mapping[str, Sequence[float]], current: int, titles: tuple[str, str]
) -> go.Figure:
    """Probability of each token at every saved step. answers: token → (S,). Steps are drawn evenly spaced, as they
    were saved more densely at the start. current: index of the selected step."""
    fig = go.Figure()
    for index, (token, probs) in enumerate(answers.items()):
        colour, dash, symbol = LOOKS[index % len(LOOKS)]
        fig.add_scatter(
            x=list(range(len(steps))),
            y=list(probs),
            mode="lines+markers",
            name=token_label(token),
            line={"color": colour, "dash": dash, "width": 3},
            marker={"symbol": symbol, "size": 10, "color": colour},
            customdata=list(steps),
            hovertemplate=f"{token_label(token)}, %{{customdata}}: %{{y:.1%}}<extra></extra>",
        )
    fig.add_vline(x=current, line={"color": GREY, "width": 3, "dash": "dot"})
    number_axis(fig, steps, title_text=titles[0])
    fig.update_yaxes(tickformat=".0%", rangemode="tozero", title_text=titles[1])
    return fig.update_layout(height=320, legend=LEGEND_ABOVE)


def word_map(words: Sequence[str], places, current: int, titles: tuple[str, str], *, name_start: str) -> go.Figure:
    """Words at the step `current`, each with its path there. places: (S, N, 2), in one common plane; axes are the same
    for every step, so that movements are real. name_start: label of the first step."""
    places = np.asarray(places, dtype=float)  # (S, N, 2)
    fig = go.Figure()
    ways = np.full((len(words), current + 2, 2), np.nan)  # one line for all, with a gap behind each word's
    ways[:, :-1] = places[: current + 1].swapaxes(0, 1)
    x, y = ways.reshape(-1, 2).T
    fig.add_scatter(x=x, y=y, mode="lines", line={"color": GREY, "width": 1.5}, opacity=0.6, hoverinfo="skip")
    if current:
        fig.add_scatter(
            x=places[0, :, 0],
            y=places[0, :, 1],
            mode="markers",
            marker={"symbol": "circle-open", "size": 8, "color": GREY, "line": {"width": 2}},
            text=[f"{token_label(word)}, {name_start}" for word in words],
            hovertemplate="%{text}<extra></extra>",
        )
    low, high = places.min((0, 1)), places.max((0, 1))
    room = 0.12 * np.maximum(high - low, 1e-6)
    low, high = low - room, high + room
    here = places[current]
    fig.add_scatter(
        x=here[:, 0],
        y=here[:, 1],
        mode="markers",
        marker={"size": 11, "color": BLUE},
        text=[token_label(word) for word in words],
        hovertemplate="%{text}: %{x:.3f}, %{y:.3f}<extra></extra>",
    )
    pixels = (here - low) / (high - low) * MAP_SIZE
    for word, place, (right, up) in zip(words, here, free_places(pixels, [len(word) for word in words]), strict=True):
        name = {"text": token_label(word), "ax": right, "ay": -up, "font": {"size": FONT_SIZE}}
        arrow = {"arrowhead": 0, "arrowwidth": 1, "arrowcolor": GREY, "standoff": 5}
        fig.add_annotation(x=place[0], y=place[1], **name, **arrow)
    fig.update_xaxes(title_text=titles[0], range=[low[0], high[0]], zeroline=True)
    fig.update_yaxes(title_text=titles[1], range=[low[1], high[1]], zeroline=True)
    fig.update_layout(height=520, showlegend=False, dragmode=False)
    return fig


MAP_SIZE = np.array([400.0, 430.0])  # approximate pixels of the plot area
LETTER, LINE = 9.5, 19.0  # pixels: width of a letter, height of a line of text


def free_places(points: np.ndarray, lengths: Sequence[int]) -> list[tuple[float, float]]:
    """For each point (N, 2) in pixels, the offset (right, up) of its label's centre, such that labels cover neither
    each other nor points if there is room nearby. lengths: of the labels, in letters."""
    taken = [(x, y, 7.0, 7.0) for x, y in points]  # centre, half width and half height
    ways = []
    for (x, y), letters in zip(points, lengths, strict=True):
        half = LETTER * letters / 2 + 2
        candidates = [
            (math.cos(angle) * (half + reach), math.sin(angle) * (LINE / 2 + reach))
            for reach in range(6, 120, 6)
            for angle in np.linspace(math.pi / 2, math.pi * 2.5, 16, endpoint=False)
        ]
        way = next((way for way in candidates if _is_free(x + way[0], y + way[1], half, taken)), candidates[0])
        taken.append((x + way[0], y + way[1], half, LINE / 2))
        ways.append(way)
    return ways


def _is_free(x: float, y: float, half: float, taken: Sequence[tuple[float, float, float, float]]) -> bool:
    if not (half <= x <= MAP_SIZE[0] - half and LINE / 2 <= y <= MAP_SIZE[1] - LINE / 2):
        return False
    return all(abs(x - cx) >= half + w or abs(y - cy) >= LINE / 2 + h for cx, cy, w, h in taken)
