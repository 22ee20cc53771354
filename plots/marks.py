"""What many figures have in common: lines with a look of their own, named rows, panels, a legend above."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal
from plots.theme import FONT_SIZE

Look = tuple[str, str, str]  # colour, dash, symbol

LEGEND_ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def add_line(
    fig: go.Figure, x: Sequence, y: Sequence, name: str, look: Look, form: str = "", *, width=3, size=10, **more: Any
) -> None:
    """A line with markers, or without if `mode` says so. form: of the values in the hover text, such as ".0%"; there
    `customdata` replaces x."""
    colour, dash, symbol = look
    if form:
        place = "customdata" if "customdata" in more else "x"
        more["hovertemplate"] = f"{literal(name)}, %{{{place}}}: %{{y:{form}}}<extra></extra>"
    more = {"mode": "lines+markers", "marker": {"symbol": symbol, "size": size, "color": colour}} | more
    line = {"color": colour, "dash": dash, "width": width}
    x, y = (one if isinstance(one, np.ndarray) else list(one) for one in (x, y))  # plotly walks through each list
    fig.add_scatter(x=x, y=y, name=literal(name), line=line, **more)


def name_rows(fig: go.Figure, names: Sequence[str], above: float = 0.5, below: float = 0.5, **more: Any) -> None:
    """The y axis: one row per name (already escaped), the first on top. above, below: room beside the outer rows."""
    more = {"showgrid": False} | more
    places = list(range(len(names)))
    fig.update_yaxes(tickvals=places, ticktext=list(names), range=[len(names) - 1 + below, -above], **more)


def panels(
    titles: Sequence[str], *, rows: int = 1, columns: int = 1, size: int = FONT_SIZE, **spacing: Any
) -> go.Figure:
    """Subplots with titles (already escaped) of readable size."""
    fig = make_subplots(rows=rows, cols=columns, subplot_titles=list(titles), **spacing)
    return fig.update_annotations(font_size=size)


def add_level(fig: go.Figure, x: float | Sequence, y: float | Sequence, line: dict, **more: Any) -> None:
    """A straight line between two points, drawn as a shape. x, y: one number or both ends."""
    (x0, x1), (y0, y1) = (ends if isinstance(ends, Sequence) else (ends, ends) for ends in (x, y))
    fig.add_shape(type="line", x0=x0, x1=x1, y0=y0, y1=y1, line=line, **more)


def add_box(fig: go.Figure, x: Sequence[float], y: Sequence[float], **look: Any) -> None:
    """A rectangle. x, y: its ends."""
    fig.add_shape(type="rect", x0=x[0], x1=x[1], y0=y[0], y1=y[1], **look)


def number_axis(fig: go.Figure, names: Sequence[str], **more: Any) -> None:
    """The x axis: evenly spaced places with these names."""
    fig.update_xaxes(tickvals=list(range(len(names))), ticktext=list(names), **more)


def side_by_side(values: Sequence[float], apart: float) -> list[int]:
    """A slot for each dot, 0, 1, −1, 2 …, so that dots of one slot are at least `apart` from each other."""
    apart = max(apart, 1e-9)  # equal values, too, stand side by side
    taken: dict[int, list[float]] = {}
    slots = [0] * len(values)
    for i in sorted(range(len(values)), key=values.__getitem__):
        free = (slot for n in count() for slot in ((n + 1) // 2 * (1 if n % 2 else -1),))
        slots[i] = next(slot for slot in free if all(values[i] - other >= apart for other in taken.get(slot, ())))
        taken.setdefault(slots[i], []).append(values[i])
    return slots
