"""Where a model's parameters, FLOPs and memory go: the counts of `minibert.count` as figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from minibert.count import CostTerm, ParameterCount, by_group
from plots.theme import BLUE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION, YELLOW

# Group → colour, the same in every figure, in drawing order. Weights, moments and gradients, each as large as the
# model, share one colour and differ by pattern.
COLOURS = {
    "embeddings": BLUE,
    "attention": ORANGE,
    "weights": SKY,
    "moments": SKY,
    "gradients": SKY,
    "copies": GREY,
    "activations": YELLOW,
    "scores": VERMILION,
    "mlp": GREEN,
    "norms": GREY,
    "heads": PINK,
    "working": PINK,
    "summing": PINK,
}
PATTERNS = {"gradients": "/", "moments": "x", "summing": "/"}
DARK, LIGHT = "#14171C", "#FFFFFF"
_GAP = 0.008  # between the columns of the mosaic, as a share of its width
_NOTE = 44  # pixels: height of a column's title of two lines
_LETTER = 8.5  # pixels: width of a letter of SMALL type, generously
_WIDE, _TALL = 700, 540  # pixels of the family figure: width of the plot area, height of the figure
_NARROW = 640  # pixels: assumed minimum width of a figure
_COLUMNS = ("embeddings", "block", "heads")


def short(n: float) -> str:
    """110106428 → "110 M": three significant digits and a unit (powers of 1000)."""
    for size, unit in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if n >= 0.9995 * size:
            return f"{_three(n / size)} {unit}"
    return f"{n:,.0f}"


def short_bytes(n: float) -> str:
    """1610612736 → "1.50 GiB"."""
    for size, unit in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if n >= size:
            return f"{_three(n / size)} {unit}"
    return f"{n:,.0f} B"


def _three(x: float) -> str:
    return f"{x:.2f}" if x < 9.995 else f"{x:.1f}" if x < 99.95 else f"{x:,.0f}"


def ink(colour: str) -> str:
    """Dark or white, whichever reads better on the colour (WCAG relative luminance)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return LIGHT if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.058 else DARK


def column_of(part: CostTerm) -> str:
    head = part.name.split(".")[0]
    return head if head in ("embeddings", "block") else "heads"


def mosaic(
    count: ParameterCount,
    *,
    names: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    selected: str | None = None,
    title: str = "",
    veiled: bool = False,
) -> go.Figure:
    """Each part as a rectangle with area proportional to its parameters, in data-flow order: left to right, downwards.

    Three columns: embeddings, blocks (all copies together, separated by thin lines), heads. `names`, `columns`: key →
    label of parts and columns; `selected`: the framed part. `customdata` is the part's name.
    veiled: draw all parts with equal area and without numbers.
    """
    names, columns = names or {}, columns or {}

    def area(part: CostTerm) -> int:
        return 1 if veiled else part.total

    everything = sum(map(area, count.parts))
    boxes: dict[str, tuple[float, float, float, float]] = {}  # part → left, width, top, height
    shapes, notes = [], []
    left = 0.0
    for column in _COLUMNS:
        parts = [part for part in count.parts if column_of(part) == column]
        size = sum(map(area, parts))
        width, top = size / everything, 0.0
        for part in parts:
            height = area(part) / size if size else 0.0
            boxes[part.name] = (left, width, top, height)
            top += height
        copies = 1 if veiled else max((part.times for part in parts), default=1)
        for i in range(1, copies):
            x = left + width * i / copies
            shapes.append(_shape("line", (x, x, 0, 1), LIGHT, 1, opacity=0.4))
        name = columns.get(column, column)
        text = name if veiled else f"{name}<br>{short(size)} · {size / everything:.0%}"
        notes.append({"x": left + width / 2, "xanchor": "center", "align": "center", "text": text})
        left += width + _GAP
    right = left - _GAP
    notes[0] |= {"x": 0, "xanchor": "left", "align": "left"}  # outer columns may be narrower than their titles
    notes[-1] |= {"x": right, "xanchor": "right", "align": "right"}
    raised = not _free_between(notes)
    notes[1]["yshift"] = 4 + (_NOTE if raised else 0)
    if selected in boxes:
        x, width, top, height = boxes[selected]
        for colour, line in ((LIGHT, 7), (DARK, 3)):  # a dark line on a light one: visible on any colour
            shapes.append(_shape("rect", (x, x + width, top, top + height), colour, line))
    labels = [names.get(part.name, part.name) for part in count.parts]
    colours = [COLOURS[part.group] for part in count.parts]
    bars = {
        "type": "bar",
        "x": [boxes[part.name][0] + boxes[part.name][1] / 2 for part in count.parts],
        "width": [boxes[part.name][1] for part in count.parts],
        "base": [boxes[part.name][2] for part in count.parts],
        "y": [boxes[part.name][3] for part in count.parts],
        "customdata": [part.name for part in count.parts],
        "text": [
            label if veiled else f"{label} {short(part.total)}" for label, part in zip(labels, count.parts, strict=True)
        ],
        "textangle": 0,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "insidetextfont": {"color": [ink(colour) for colour in colours], "size": SMALL},
        "hovertext": [
            label if veiled else f"{label}: {part.total:,} ({part.total / everything:.1%})"
            for label, part in zip(labels, count.parts, strict=True)
        ],
        "hoverinfo": "text",
        "marker": {"color": colours, "line": {"color": LIGHT, "width": 1}},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }
    note = {"y": 0, "yanchor": "bottom", "yshift": 4, "showarrow": False, "font": {"size": SMALL}}
    layout = {
        "barmode": "overlay",
        "uniformtext": {"minsize": SMALL, "mode": "hide"},
        "title": {"text": title, "y": 0.985, "yanchor": "top"},
        "margin": {"l": 2, "r": 2, "t": 30 + _NOTE * (2 if raised else 1), "b": 4},
        "height": 375,  # lower, plotly hides the names of a block's parts
        "shapes": shapes,
        "annotations": [note | own for own in notes],
        "xaxis": {"visible": False, "range": [0, right], "fixedrange": True},
        "yaxis": {"visible": False, "range": [1, 0], "fixedrange": True},
    }
    return go.Figure({"data": [bars], "layout": layout})


def _free_between(notes: list[dict]) -> bool:
    """Whether the middle one of three titles fits between the outer ones in a figure _NARROW pixels wide."""
    first, middle, last = (max(map(len, note["text"].split("<br>"))) * _LETTER for note in notes)
    at = notes[1]["x"] * _NARROW
    return first + _LETTER < at - middle / 2 and at + middle / 2 < notes[2]["x"] * _NARROW - last - _LETTER


def _shape(kind: str, box: tuple[float, float, float, float], colour: str, width: int, **more) -> dict:
    x0, x1, y0, y1 = box
    line = {"color": colour, "width": width}
    return {"type": kind, "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line, "layer": "above", **more}


def shares(
    rows: Mapping[str, Mapping[str, int]], *, names: Mapping[str, str] | None = None, title: str = ""
) -> go.Figure:
    """Bars of equal length, divided by group. rows: label → {group: number}."""
    fig = go.Figure()
    for group in _in_order({group for row in rows.values() for group in row}):
        values = [row.get(group, 0) for row in rows.values()]
        fractions = [value / (sum(row.values()) or 1) for value, row in zip(values, rows.values(), strict=True)]
        name = (names or {}).get(group, group)
        amounts = zip(values, fractions, strict=True)
        fig.add_bar(
            y=list(rows),
            x=fractions,
            customdata=values,
            text=[f"{fraction:.0%}" for fraction in fractions],
            hovertext=[f"{name}: {short(value)} ({fraction:.1%})" for value, fraction in amounts],
            **_bar_look(group, name, 16),
        )
    fig.update_xaxes(range=[0, 1], tickformat=".0%")
    fig.update_layout(title=title, margin_r=28)  # half of "100%"
    return _stacked(fig, rows=len(rows))


def memory_bars(
    rows: Mapping[str, Sequence[CostTerm]], *, names: Mapping[str, str] | None = None, title: str = ""
) -> go.Figure:
    """Memory in use at different moments, one bar each, divided by group. rows: label of the moment → parts."""
    sums = {label: by_group(parts) for label, parts in rows.items()}
    longest = max(sum(row.values()) for row in sums.values())
    unit, unit_name = (2**30, "GiB") if longest >= 2**30 else (2**20, "MiB")
    fig = go.Figure()
    for group in _in_order({group for row in sums.values() for group in row}):
        values = [row.get(group, 0) for row in sums.values()]
        name = (names or {}).get(group, group)
        fig.add_bar(
            y=list(rows),
            x=[value / unit for value in values],
            customdata=values,
            text=[short_bytes(value) if value else "" for value in values],
            hovertext=[f"{name}: {short_bytes(value)}" for value in values],
            marker_pattern=_pattern(group),
            **_bar_look(group, name, SMALL),
        )
    fig.update_xaxes(title=unit_name)
    fig.update_layout(title=title)
    return _stacked(fig, rows=len(rows))


def _bar_look(group: str, name: str, size: int) -> dict:
    """A group's part of a stacked bar, its text inside in type of this size."""
    return {
        "name": name,
        "orientation": "h",
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "insidetextfont": {"color": ink(COLOURS[group]), "size": size},
        "hoverinfo": "text",
        "marker_color": COLOURS[group],
        "marker_line": {"color": LIGHT, "width": 1},
    }


def _pattern(group: str) -> dict:
    pattern = {"shape": PATTERNS.get(group, ""), "fillmode": "replace", "size": 10}
    return pattern | {"bgcolor": COLOURS[group], "fgcolor": "rgba(20,23,28,0.4)", "solidity": 0.12}


def _in_order(groups) -> list[str]:
    return [group for group in COLOURS if group in groups]


def _stacked(fig: go.Figure, rows: int) -> go.Figure:
    fig.update_layout(
        barmode="stack",
        bargap=0.35,
        uniformtext={"minsize": SMALL, "mode": "hide"},
        legend={"orientation": "h", "yanchor": "top", "y": -0.16 - 0.5 / rows, "x": 0, "traceorder": "normal"},
        height=220 + 70 * rows,
    )
    fig.update_yaxes(autorange="reversed", fixedrange=True)
    fig.update_xaxes(fixedrange=True)
    return fig


def growth(
    xs: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    at: float,
    x_title: str,
    y_title: str,
    names: Mapping[str, str] | None = None,
    here: str = "",
    limit: tuple[float, str] | None = None,
    title: str = "",
) -> go.Figure:
    """Stacked groups over one size. series: group → one number per `xs`; `at`: current size, marked with label `here`.

    limit: (x, label) of a vertical line at the model's maximum.
    """
    names = names or {}
    fig = go.Figure()
    for group in _in_order(series):
        values = series[group]
        fig.add_scatter(
            x=list(xs),
            y=list(values),
            name=names.get(group, group),
            stackgroup="all",
            mode="lines",
            line={"width": 1.5, "color": COLOURS[group]},
            fillcolor=COLOURS[group],
            fillpattern={
                "shape": PATTERNS.get(group, ""),
                "fgcolor": DARK,
                "fgopacity": 0.35,
                "bgcolor": COLOURS[group],
            }
            if group in PATTERNS
            else None,
            hovertemplate="%{y:.3s}",
        )
    sums = [sum(values) for values in zip(*series.values(), strict=True)]
    nearest = min(range(len(xs)), key=lambda i: abs(xs[i] - at))
    fig.add_scatter(
        x=[xs[nearest]],
        y=[sums[nearest]],
        mode="markers+text",
        marker={"size": 16, "color": LIGHT, "line": {"color": DARK, "width": 3}},
        text=[f"<b>{here}</b>"],
        textposition="top left" if at > 0.2 * max(xs) else "top center",  # above a rising curve, left is free
        textfont={"size": 16},
        hoverinfo="skip",
        showlegend=False,
    )
    if limit is not None:
        note = {"text": limit[1], "font": {"size": SMALL}}
        fig.add_vline(x=limit[0], line={"dash": "dash", "width": 2, "color": GREY}, annotation=note)
    fig.update_layout(
        title=title,
        hovermode="x unified",
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0, "traceorder": "normal"},
        height=460,
    )
    fig.update_xaxes(title=x_title, fixedrange=True, range=[0, max(xs)])
    fig.update_yaxes(title=y_title, fixedrange=True, range=[0, 1.16 * max(sums)], exponentformat="SI")
    return fig


def family(
    models: Mapping[str, tuple[float, float]],
    *,
    x_title: str,
    y_title: str,
    here: tuple[str, float, float] | None = None,
    title: str = "",
) -> go.Figure:
    """The family on two log scales. models: name → (parameters, FLOPs). `customdata` is the model's name.

    here: (label, x, y) of the current model, drawn as a ring.
    """
    fig = go.Figure()
    points = [*models.values(), *([here[1:]] if here else [])]
    ends = [_log_range([point[index] for point in points]) for index in (0, 1)]
    sides = _places_of_names(models, *ends)
    kinds = {"BERT": ("circle", BLUE), "": ("diamond", ORANGE)}
    for prefix, (symbol, colour) in kinds.items():
        chosen = {name: at for name, at in models.items() if name.startswith("BERT") == bool(prefix)}
        fig.add_scatter(
            x=[x for x, _y in chosen.values()],
            y=[y for _x, y in chosen.values()],
            mode="markers+text",
            text=[f"\u2002{name}\u2002" if sides[name] else "" for name in chosen],
            textposition=[sides[name] or "middle right" for name in chosen],
            textfont={"size": SMALL},
            customdata=list(chosen),
            hovertext=[f"{name}: {x:,} / {short(y)}" for name, (x, y) in chosen.items()],
            hoverinfo="text",
            marker={"size": 16, "symbol": symbol, "color": colour, "line": {"color": LIGHT, "width": 1}},
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            showlegend=False,
        )
    if here is not None:
        label, x, y = here
        fig.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            name=label,
            hovertext=[f"{label}: {x:,} / {short(y)}"],
            hoverinfo="text",
            marker={"size": 26, "symbol": "circle-open", "color": VERMILION, "line": {"width": 4}},
            showlegend=True,
        )
    for update, (low, high), name in ((fig.update_xaxes, ends[0], x_title), (fig.update_yaxes, ends[1], y_title)):
        ticks = _decades(10**low, 10**high)
        labels = [short(tick).replace(".00", "").replace(".0", "") for tick in ticks]
        update(type="log", title=name, tickvals=ticks, ticktext=labels, fixedrange=True, range=[low, high])
    fig.update_layout(title=title, legend={"orientation": "h", "yanchor": "top", "y": -0.16, "x": 0}, height=_TALL)
    return fig


def _log_range(values: Sequence[float]) -> tuple[float, float]:
    return math.log10(min(values) / 2.2), math.log10(max(values) * 2.2)


def _decades(low: float, high: float) -> list[float]:
    exponents = range(-2, 30)
    return [10.0**e * m for e in exponents for m in (1, 3) if low <= 10.0**e * m <= high]


def _places_of_names(
    models: Mapping[str, tuple[float, float]], xs: tuple[float, float], ys: tuple[float, float]
) -> dict[str, str | None]:
    """Name → side of its point for the name, such that no name covers another or a point; None if there is no room:
    then it is shown on hover only. xs, ys: ends of the log scales."""

    def pixel(value: float, ends: tuple[float, float], size: float) -> float:
        return (math.log10(value) - ends[0]) / (ends[1] - ends[0]) * size

    at = {name: (pixel(x, xs, _WIDE), pixel(y, ys, _TALL - 150)) for name, (x, y) in models.items()}
    taken = [(x - 9, y - 9, x + 9, y + 9) for x, y in at.values()]
    sides: dict[str, str | None] = {}
    for name, (x, y) in at.items():
        width = _LETTER * (len(name) + 2)
        places = {
            "middle right": (x + 9, y - 9, x + 9 + width, y + 9),
            "middle left": (x - 9 - width, y - 9, x - 9, y + 9),
            "top center": (x - width / 2, y + 9, x + width / 2, y + 27),
            "bottom center": (x - width / 2, y - 27, x + width / 2, y - 9),
        }
        free = (side for side, box in places.items() if box[0] >= 0 and box[2] <= _WIDE and not _meets(box, taken))
        sides[name] = next(free, None)
        if sides[name]:
            taken.append(places[sides[name]])
    return sides


def _meets(box: tuple[float, float, float, float], others: Sequence[tuple[float, float, float, float]]) -> bool:
    return any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in others)
