"""Figures of smaller models: size, speed and accuracy in one picture, and learning curves of distilled students."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from plots.attention import literal
from plots.marks import add_level, add_line
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, ORANGE, PINK, VERMILION

LARGEST = 62  # pixels across the largest bubble
LOOKS = {  # kind of a point → colour, symbol
    "teacher": (ORANGE, "circle"),
    "alone": (GREY, "circle"),
    "taught": (BLUE, "circle"),
    "pruned": (GREEN, "circle"),
    "own": (PINK, "circle"),
}
WIDTH, HEIGHT = 276, 260  # pixels: smallest plot area, on a phone
LETTER, LINE = 9.5, 20  # pixels: width of a letter, height of a line; a projector enlarges the plot area as well
Place = tuple[float, float, float, float]  # x and y of the centre, width and height, in pixels
LINES = ((BLUE, "solid", "circle"), (VERMILION, "dash", "diamond"), (GREEN, "dot", "square"), (PINK, "dashdot", "x"))


@dataclass(frozen=True)
class Point:
    """A model. milliseconds: per text · score: in [0, 1] · megabytes: of its weights · kind: a key of LOOKS ·
    open: drawn as a ring (for 8-bit models) · spread: half the length of the error bar · under: name below the bubble ·
    called: shorter name to write beside it."""

    name: str
    milliseconds: float
    score: float
    megabytes: float
    kind: str
    open: bool = False
    spread: float = 0.0
    under: bool = False
    called: str = ""


def tradeoff(points: Sequence[Point], title: str, axes: tuple[str, str], best: str) -> go.Figure:
    """Bubbles: x is time, y accuracy, area memory. best: name of the line that joins the Pareto front of speed and
    score."""
    fig = go.Figure()
    most = max((point.megabytes for point in points), default=1.0)
    front = sorted((p for p in points if not beaten(p, points)), key=lambda point: point.milliseconds)
    fig.add_scatter(
        x=[p.milliseconds for p in front],
        y=[100 * p.score for p in front],
        mode="lines",
        name=literal(best),
        line={"color": GREY, "width": 2, "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
    )
    times = [point.milliseconds for point in points] or [1.0]
    scores = [100 * point.score for point in points] or [50.0]
    room = max(3.0, 0.28 * (max(scores) - min(scores)))
    low, high = min(scores) - room, max(scores) + room
    left, right = math.log10(min(times)) - 0.22, math.log10(max(times)) + 0.22
    placed = {
        point: (
            (math.log10(point.milliseconds) - left) / (right - left) * WIDTH,
            (100 * point.score - low) / (high - low) * HEIGHT,
            max(14.0, LARGEST * math.sqrt(point.megabytes / most)),
        )
        for point in points
    }
    taken: list[Place] = []
    for point in sorted(points, key=lambda one: -one.megabytes):
        colour, symbol = LOOKS[point.kind]
        x, y, size = placed[point]
        called = point.called or point.name
        others = [(u, v, across, across) for other, (u, v, across) in placed.items() if other is not point]
        reach = max(size / 2, 100 * point.spread / (high - low) * HEIGHT)  # of bubble and error bar
        shift = free_shift(x, y, len(called), (-1 if point.under else 1) * (reach + 13), taken, others)
        hover = (
            f"{literal(point.name)}: {point.milliseconds:.2f} ms, {100 * point.score:.1f} %, {point.megabytes:.1f} MB"
        )
        fig.add_scatter(
            x=[point.milliseconds],
            y=[100 * point.score],
            mode="markers",
            showlegend=False,
            marker={
                "size": size,
                "color": colour,
                "symbol": f"{symbol}-open" if point.open else symbol,
                "opacity": 1.0 if point.open else 0.8,
                "line": {"width": 3, "color": colour},
            },
            error_y={"type": "data", "array": [100 * point.spread], "visible": point.spread > 0, "color": colour},
            hovertemplate=f"{hover}<extra></extra>",
        )
        name = {"text": literal(called), "showarrow": False, "yshift": shift, "font": {"size": FONT_SIZE}}
        fig.add_annotation(x=math.log10(point.milliseconds), y=100 * point.score, **name)
        if abs(shift) > reach + LINE:  # the name is away from its bubble: connect them
            y0, y1 = (math.copysign(part, shift) for part in (reach + 2, abs(shift) - LINE / 2))
            pixels = {"xsizemode": "pixel", "ysizemode": "pixel"}
            anchors = {"xanchor": point.milliseconds, "yanchor": 100 * point.score}
            add_level(fig, 0, (y0, y1), {"color": GREY, "width": 1}, **pixels, **anchors)
    fig.update_xaxes(
        type="log", title_text=axes[0], tickvals=ticks(min(times), max(times)), showgrid=False, range=[left, right]
    )
    fig.update_yaxes(title_text=axes[1], range=[low, high])
    fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=390,
        legend={"orientation": "h", "y": 1.0, "x": 1, "xanchor": "right", "yanchor": "bottom"},
        margin={"l": 60, "r": 20, "t": 40, "b": 50},
    )
    return fig


def free_shift(
    x: float,
    y: float,
    letters: int,
    first: float,
    taken: list[Place],
    bubbles: Sequence[Place] = (),
) -> float:
    """Vertical shift of a name from its bubble, in pixels, such that it covers no other name and, if there is room, no
    other bubble; computed because positions are measured and may be close. x, y: of the bubble, in pixels · first:
    preferred shift · taken: the names already placed; this one is appended."""
    width, steps = LETTER * letters, range(2 * HEIGHT // LINE)  # of half a line
    everywhere = [sign * (first + math.copysign(step * LINE / 2, first)) for step in steps for sign in (1, -1)]
    shifts = [shift for shift in everywhere if LINE / 2 <= y + shift <= HEIGHT - LINE / 2] or [first]

    def room(shift: float, there: Sequence[Place]) -> float:
        """Pixels between it and the nearest horizontally overlapping item, above or below; negative if they overlap."""
        return min(
            (abs(y + shift - v) - (LINE + high) / 2 for u, v, wide, high in there if abs(x - u) < (width + wide) / 2),
            default=math.inf,
        )

    free = (shift for there in ([*taken, *bubbles], taken) for shift in shifts if room(shift, there) >= 0)
    results = next(free, None)
    if results is None:  # more names than lines
        results = max(shifts, key=lambda shift: room(shift, taken))
    taken.append((x, y + results, width, LINE))
    return results


def beaten(point: Point, points: Sequence[Point]) -> bool:
    """Whether another point dominates it: at least as fast and as good, and better in one of the two."""
    mine = (point.milliseconds, -point.score)
    return any(
        (other.milliseconds, -other.score) != mine and other.milliseconds <= mine[0] and -other.score <= mine[1]
        for other in points
    )


def ticks(low: float, high: float) -> list[float]:
    """Ticks 1, 2, 5, 10 … around the range."""
    steps = [m * 10.0**e for e in range(-2, 4) for m in (1, 2, 5)]
    return [step for step in steps if low / 2 <= step <= high * 2]


def students(
    lines: Mapping[str, Sequence[tuple[float, float]]], teachers: Mapping[str, float], title: str, axes: tuple[str, str]
) -> go.Figure:
    """One line per student over its run, in percent; a dashed level for each teacher. lines: name → (share of the run,
    score)s."""
    fig = go.Figure()
    for place, (name, line) in enumerate(lines.items()):
        x, y = ([100 * point[i] for point in line] for i in (0, 1))
        add_line(fig, x, y, name, LINES[place % len(LINES)], size=9)
    for name, score in teachers.items():
        fig.add_hline(
            y=100 * score,
            line={"color": ORANGE, "width": 3, "dash": "dash"},
            annotation_text=literal(name),
            annotation_position="top left",
            annotation_font_size=FONT_SIZE,
        )
    fig.update_xaxes(title_text=axes[0], range=[-2, 102])
    fig.update_yaxes(title_text=axes[1])
    heading = {"text": literal(title), "x": 0, "xanchor": "left"}
    return fig.update_layout(title=heading, height=380, legend={"orientation": "h", "y": 1.14, "x": 0})
