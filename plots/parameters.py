"""Where a model's parameters, FLOPs and memory go: the counts of `minibert.count` as figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from minibert.count import ParameterCount, Part, by_group, total
from plots.theme import BLUE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION, YELLOW

# One colour a group, the same in every figure, in the order in which groups are drawn. Weights, moments and gradients,
# each as large as the model, share one colour and differ by pattern.
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
_COLUMNS = ("embeddings", "block", "heads")


def short(n: float) -> str:
    """110106428 → "110 M": three digits and a unit of a thousand."""
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


def column_of(part: Part) -> str:
    head = part.name.split(".")[0]
    return head if head in ("embeddings", "block") else "heads"


def mosaic(
    count: ParameterCount,
    *,
    names: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    selected: str | None = None,
) -> go.Figure:
    """Every part as a rectangle whose area is its number of parameters, in the order data flows: left to right, down.

    Three columns: embeddings, blocks (all copies together, a hairline between two), heads. `names`, `columns`: labels
    of parts and columns by their keys; `selected`: the part drawn with a frame. `customdata` is the part's name.
    """
    names, columns = names or {}, columns or {}
    everything = total(count.parts)
    boxes: dict[str, tuple[float, float, float, float]] = {}  # part → left, width, top, height
    shapes, notes = [], []
    left = 0.0
    for column in _COLUMNS:
        parts = [part for part in count.parts if column_of(part) == column]
        size = total(parts)
        width, top = size / everything, 0.0
        for part in parts:
            height = part.total / size if size else 0.0
            boxes[part.name] = (left, width, top, height)
            top += height
        copies = max((part.times for part in parts), default=1)
        for i in range(1, copies):
            x = left + width * i / copies
            shapes.append(_shape("line", (x, x, 0, 1), LIGHT, 1, opacity=0.4))
        title = f"{columns.get(column, column)}<br>{short(size)} · {size / everything:.0%}"
        notes.append({"x": left + width / 2, "xanchor": "center", "align": "center", "text": title})
        left += width + _GAP
    right = left - _GAP
    notes[0] |= {"x": 0, "xanchor": "left", "align": "left"}  # the outer columns may be narrower than their titles
    notes[-1] |= {"x": right, "xanchor": "right", "align": "right"}
    if selected in boxes:
        x, width, top, height = boxes[selected]
        for colour, line in ((LIGHT, 7), (DARK, 3)):  # a dark line in a light one: seen on any colour, in either theme
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
        "text": [f"{label} {short(part.total)}" for label, part in zip(labels, count.parts, strict=True)],
        "textangle": 0,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "insidetextfont": {"color": [ink(colour) for colour in colours], "size": SMALL},
        "hovertext": [
            f"{label}: {part.total:,} ({part.total / everything:.1%})"
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
        "margin": {"l": 2, "r": 2, "t": 52, "b": 4},
        "height": 420,
        "shapes": shapes,
        "annotations": [note | own for own in notes],
        "xaxis": {"visible": False, "range": [0, right], "fixedrange": True},
        "yaxis": {"visible": False, "range": [1, 0], "fixedrange": True},
    }
    return go.Figure({"data": [bars], "layout": layout})


def _shape(kind: str, box: tuple[float, float, float, float], colour: str, width: int, **more) -> dict:
    x0, x1, y0, y1 = box
    line = {"color": colour, "width": width}
    return {"type": kind, "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line, "layer": "above", **more}


def shares(rows: Mapping[str, Mapping[str, int]], *, names: Mapping[str, str] | None = None) -> go.Figure:
    """Where different things go: bars of equal length cut by group. rows: label → {group: number}."""
    names = names or {}
    fig = go.Figure()
    for group in _in_order({group for row in rows.values() for group in row}):
        values = [row.get(group, 0) for row in rows.values()]
        fractions = [value / (sum(row.values()) or 1) for value, row in zip(values, rows.values(), strict=True)]
        fig.add_bar(
            y=list(rows),
            x=fractions,
            name=names.get(group, group),
            orientation="h",
            customdata=values,
            text=[f"{fraction:.0%}" for fraction in fractions],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": ink(COLOURS[group]), "size": 16},
            hovertext=[
                f"{names.get(group, group)}: {short(value)} ({fraction:.1%})"
                for value, fraction in zip(values, fractions, strict=True)
            ],
            hoverinfo="text",
            marker={"color": COLOURS[group], "line": {"color": LIGHT, "width": 1}},
        )
    fig.update_xaxes(range=[0, 1], tickformat=".0%")
    fig.update_layout(margin_r=28)  # half of "100%"
    return _stacked(fig, rows=len(rows))


def memory_bars(rows: Mapping[str, Sequence[Part]], *, names: Mapping[str, str] | None = None) -> go.Figure:
    """What is alive at one moment, one bar a moment: label → parts. Lengths are bytes, cut by group."""
    names = names or {}
    sums = {label: by_group(parts) for label, parts in rows.items()}
    longest = max(sum(row.values()) for row in sums.values())
    unit, unit_name = (2**30, "GiB") if longest >= 2**30 else (2**20, "MiB")
    fig = go.Figure()
    for group in _in_order({group for row in sums.values() for group in row}):
        values = [row.get(group, 0) for row in sums.values()]
        fig.add_bar(
            y=list(rows),
            x=[value / unit for value in values],
            name=names.get(group, group),
            orientation="h",
            customdata=values,
            text=[short_bytes(value) if value else "" for value in values],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": ink(COLOURS[group]), "size": SMALL},
            hovertext=[f"{names.get(group, group)}: {short_bytes(value)}" for value in values],
            hoverinfo="text",
            marker={
                "color": COLOURS[group],
                "line": {"color": LIGHT, "width": 1},
                "pattern": _pattern(group),
            },
        )
    fig.update_xaxes(title=unit_name)
    return _stacked(fig, rows=len(rows))


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
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"},
        height=130 + 70 * rows,
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
) -> go.Figure:
    """Groups stacked over one size. series: group → a number for each of `xs`; `at`: the size now, marked with `here`.

    limit: (x, label) of a line beyond which the model as it is cannot go.
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
        fig.add_vline(
            x=limit[0],
            line={"dash": "dash", "width": 2, "color": GREY},
            annotation={"text": limit[1], "font": {"size": SMALL}},
        )
    fig.update_layout(
        hovermode="x unified",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"},
        height=420,
    )
    fig.update_xaxes(title=x_title, fixedrange=True, range=[0, max(xs)])
    fig.update_yaxes(title=y_title, fixedrange=True, range=[0, 1.08 * max(sums)], exponentformat="SI")
    return fig


def family(
    models: Mapping[str, tuple[float, float]],
    *,
    x_title: str,
    y_title: str,
    here: tuple[str, float, float] | None = None,
) -> go.Figure:
    """The family on two log scales: name → (parameters, FLOPs). `customdata` is the model's name.

    here: (label, x, y) of the present model, ringed.
    """
    fig = go.Figure()
    kinds = {"BERT": ("circle", BLUE), "": ("diamond", ORANGE)}
    for prefix, (symbol, colour) in kinds.items():
        chosen = {name: at for name, at in models.items() if name.startswith("BERT") == bool(prefix)}
        fig.add_scatter(
            x=[x for x, _y in chosen.values()],
            y=[y for _x, y in chosen.values()],
            mode="markers+text",
            text=[f"\u2002{name}\u2002" for name in chosen],
            textposition=[_free_side(name, models) for name in chosen],
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
    points = [*models.values(), *([here[1:]] if here else [])]
    for update, index, title in ((fig.update_xaxes, 0, x_title), (fig.update_yaxes, 1, y_title)):
        low, high = min(point[index] for point in points), max(point[index] for point in points)
        low, high = low / 1.8, high * (4 if index == 0 else 1.8)  # names stand right of their points
        ticks = _decades(low, high)
        labels = [short(tick).replace(".00", "").replace(".0", "") for tick in ticks]
        update(type="log", title=title, tickvals=ticks, ticktext=labels, fixedrange=True)
        update(range=[math.log10(low), math.log10(high)])
    fig.update_layout(legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}, height=520)
    return fig


def _decades(low: float, high: float) -> list[float]:
    exponents = range(-2, 30)
    return [10.0**e * m for e in exponents for m in (1, 3) if low <= 10.0**e * m <= high]


def _free_side(name: str, models: Mapping[str, tuple[float, float]]) -> str:
    """Left of the point where a neighbour at its height is close on its right, else right of it."""
    x, y = models[name]
    crowded = any(other != name and 1 <= ox / x < 4 and 0.7 < oy / y < 1.4 for other, (ox, oy) in models.items())
    return "middle left" if crowded else "middle right"
