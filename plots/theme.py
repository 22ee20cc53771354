"""Theme of all figures: colour-blind safe palette, type legible from the back row, light and dark pages."""

import html
import re
from collections.abc import Sequence

import numpy as np

# plotly uses pandas whenever it is in sys.modules, even if another session's thread has imported only half of it.
# Every figure imports this module, and so waits until pandas is imported completely.
import pandas  # noqa: F401
import plotly.graph_objects as go

# Okabe & Ito 2008, "Color Universal Design", ordered so that neighbours differ in lightness as well.
BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
)
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW)
GREY = "#8A8F98"  # for secondary elements; contrast of at least 3 : 1 against both themes' backgrounds
# Colour of neutral text and of selection frames. A figure does not know whether its page is light or dark: style.css
# replaces this colour by that of the page's text.
WORDS = "#010203"

SEQUENTIAL = "Viridis"  # from 0 up: perceptually uniform, also in greyscale
DIVERGING = [[0.0, "#0072B2"], [0.5, "#F4F1EA"], [1.0, "#D55E00"]]  # below zero … above zero

FONT_SIZE = 16
SMALL = 14  # the smallest type in figures
USUAL_HEIGHT = 450  # plotly's default height
PROJECTED_HEIGHT = 620  # what the page's borders leave of a small projector's 720 pixels
_PIXELS = {  # part of a figure → its sizes in pixels, besides those of type and markers
    "margin": {"l", "r", "t", "b"},
    "annotations": {"xshift", "yshift"},
    "annotation": {"xshift", "yshift"},
    "colorbar": {"thickness"},
    "uniformtext": {"minsize"},
}


LEGEND_ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def add_marks(fig: go.Figure, x, y, marker: dict, *, hover: str | None = None, **options) -> None:
    """Add points without a legend entry. hover: text of a point under the mouse."""
    if hover is not None:
        options["hovertemplate"] = hover + "<extra></extra>"
    fig.add_scatter(x=x, y=y, mode="markers", marker=marker, showlegend=False, **options)


def add_text(fig: go.Figure, x, y, text: Sequence[str], *, position="middle right", **options) -> None:
    """Write small texts at points; they neither react to the mouse nor end at the axes."""
    options |= {"textposition": position, "textfont": {"size": SMALL}, "cliponaxis": False, "hoverinfo": "skip"}
    fig.add_scatter(x=x, y=y, mode="text", text=text, showlegend=False, **options)


def add_line(
    fig: go.Figure, x, y, name: str, look: tuple[str, str, str], hover: str, *, width: float = 3, size=9, **options
) -> None:
    """Add a line with markers. look: its colour, dash and symbol."""
    colour, dash, symbol = look
    options |= {"line": {"color": colour, "dash": dash, "width": width}, "hovertemplate": hover + "<extra></extra>"}
    marker = {"symbol": symbol, "size": size, "color": colour}
    fig.add_scatter(x=x, y=y, name=name, mode="lines+markers", marker=marker, **options)


def name_rows(fig: go.Figure, names: Sequence[str], **options) -> None:
    """Name the rows 0, 1, … of a figure, the first on top."""
    rows = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    fig.update_yaxes(**rows | {"showgrid": False} | options)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours (#RRGGBB), 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted(map(_luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def apply(fig: go.Figure) -> go.Figure:
    """Apply the theme to a figure, in place, and return it. Its own settings are kept, except type below SMALL."""
    layout = fig.layout
    layout.font.size = max(layout.font.size or FONT_SIZE, SMALL)
    layout.paper_bgcolor = layout.paper_bgcolor or "rgba(0,0,0,0)"
    layout.plot_bgcolor = layout.plot_bgcolor or "rgba(0,0,0,0)"
    layout.colorway = layout.colorway or PALETTE
    layout.hoverlabel.font.size = max(layout.hoverlabel.font.size or FONT_SIZE, SMALL)
    layout.legend.font.size = max(layout.legend.font.size or SMALL, SMALL)
    layout.margin = {"l": 8, "r": 8, "t": 48 if layout.title.text else 24, "b": 8} | layout.margin.to_plotly_json()
    if layout.title.text:
        layout.title.font.size = max(layout.title.font.size or 18, FONT_SIZE)
    for axis in fig.select_xaxes():
        _apply_axis(axis)
    for axis in fig.select_yaxes():
        _apply_axis(axis)
    _colour_words(fig)
    return fig


def _colour_words(fig: go.Figure) -> None:
    """Give text outside bars and cells the page's text colour: a chart theme's grey is too faint."""
    for note in fig.layout.annotations:
        note.font.color = note.font.color or WORDS
    for trace in fig.data:
        if trace.type == "scatter" and "text" in (trace.mode or "") and trace.textfont.color is None:
            trace.textfont.color = WORDS
        elif trace.type == "bar" and trace.outsidetextfont.color is None and trace.textfont.color is None:
            trace.outsidetextfont.color = WORDS


TITLE = 34  # pixels above a figure for its title


def titled(fig: go.Figure, title: str) -> go.Figure:
    """Add a title above a figure, in place, and return it; its height grows by TITLE."""
    if title:
        margin, height = fig.layout.margin.t, fig.layout.height
        fig.update_layout(
            title={"text": html.escape(title, quote=False), "x": 0, "xref": "container", "y": 1, "yref": "container"},
            title_yanchor="top",
            title_pad={"t": 4, "l": 8},
            title_font_size=FONT_SIZE,
            margin_t=(24 if margin is None else margin) + TITLE,
            height=(height or USUAL_HEIGHT) + TITLE,
        )
    return fig


def untitled(fig: go.Figure) -> str:
    """Remove a figure's title and its space, in place; returns it as plain text, "" for none."""
    title = fig.layout.title.text
    if not title:
        return ""
    room = TITLE + 26 * title.count("<br>")  # pixels a line
    margin, height = fig.layout.margin.t, fig.layout.height
    fig.update_layout(title={"text": None}, margin_t=margin and max(24, margin - room), height=height and height - room)
    return html.unescape(re.sub(r"</?b>", "", title.replace("<br>", " ")))


def _apply_axis(axis) -> None:
    axis.tickfont.size = max(axis.tickfont.size or SMALL, SMALL)
    axis.title.font.size = max(axis.title.font.size or FONT_SIZE, SMALL)
    axis.automargin = True if axis.automargin is None else axis.automargin
    axis.zeroline = False if axis.zeroline is None else axis.zeroline
    if axis.tickformat == ".0%":
        axis.tickformat = ".2~%"  # whole percents stay so; in a narrow range they would repeat
    axis.gridcolor = axis.gridcolor or "rgba(138,143,152,0.25)"


def enlarged(fig: go.Figure, factor: float) -> go.Figure:
    """A copy with type, markers and margins enlarged by `factor`, for the back row of a room.

    The width stays that of the page; the height grows by `factor` too, up to PROJECTED_HEIGHT.
    """
    parts = fig.to_plotly_json()  # a copy
    _enlarge(parts["data"], factor)
    _enlarge({name: part for name, part in parts["layout"].items() if name != "template"}, factor)
    large = go.Figure(parts)
    height = fig.layout.height or USUAL_HEIGHT
    return large.update_layout(height=max(height, min(factor * height, PROJECTED_HEIGHT)))


def _enlarge(part, factor: float, inside: str = "") -> None:
    """Multiply the pixel sizes in a part of a figure by `factor`, in place. inside: key of the enclosing part."""
    if isinstance(part, list | tuple):
        for one in part:
            _enlarge(one, factor, inside)
    elif isinstance(part, dict):
        sizes = {"size"} if inside == "marker" or inside.endswith("font") else _PIXELS.get(inside, set())
        for name, value in part.items():
            if name in sizes and value is not None:
                part[name] = (np.asarray(value) * factor).tolist()
            else:
                _enlarge(value, factor, name)
