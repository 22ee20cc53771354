"""Theme of all figures: colour-blind safe palette, type legible from the back row, light and dark pages."""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

# plotly uses pandas whenever it is in sys.modules, even if another session's thread has imported only half of it.
# Every figure imports this module, and so waits until pandas is imported completely.
import pandas  # noqa: F401
import plotly.basedatatypes
import plotly.graph_objects as go

# plotly parses the same few hundred names of properties thousands of times a figure, 40 % of the time that one takes.
plotly.basedatatypes._str_to_dict_path_full = lru_cache(maxsize=4096)(plotly.basedatatypes._str_to_dict_path_full)

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
DOTTED = {"color": GREY, "width": 3, "dash": "dot"}  # what needs no understanding
USUAL_HEIGHT = 450  # plotly's default height
PROJECTED_HEIGHT = 620  # pixels to which the height of a figure grows in a room
_PIXELS = {  # part of a figure → its sizes in pixels, besides those of type and markers
    "margin": {"l", "r", "t", "b"},
    "annotations": {"xshift", "yshift"},
    "annotation": {"xshift", "yshift"},
    "colorbar": {"thickness"},
    "uniformtext": {"minsize"},
}
_AXIS = re.compile(r"[xy]axis\d*")


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


def add_notes(fig: go.Figure, notes: Iterable[dict]) -> None:
    """Add annotations, all at once: plotly checks those that are there again with each that is added."""
    fig.layout.annotations = (*fig.layout.annotations, *notes)


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


def columns(text: str) -> int:
    """The width of a text, in which a Chinese character takes two columns."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


_CHARACTER = re.compile(r"&(?:amp|lt|gt);|.")  # as `literal` writes it
_NEVER_LAST = {"Zs", "Nd", "Ps", "Pi", "Cf"}  # of a line; Unicode's categories: spaces, digits, opening marks, joiners
_NEVER_FIRST = {"Pc", "Pd", "Pe", "Pf", "Po", "Mn", "Mc", "Me", "Sk", "Cf"}


def broken(text: str, most: int = 36) -> str:
    """The text, escaped or not, in lines of at most `most` `columns`: a phone has room for 36. A word is cut only if it
    is longer than a line, and the last character never stands alone."""
    text = re.sub(r"(?<=\d) (?=[^\0-\u2e7f])", "\xa0", " ".join(text.split()))  # 12 层
    shown, lines, start = _CHARACTER.findall(text), [], 0
    while start < len(shown):
        plain = [html.unescape(one) for one in shown[start : start + most + 1]]
        end = max(1, bisect_right(list(accumulate(map(columns, plain))), most))
        if end < len(plain):
            places = (at for at in range(end, 0, -1) if start + at < len(shown) - 1)
            end = next((at for at in places if _may_end(*plain[at - 1 : at + 1])), end)
        lines.append("".join(shown[start : start + end]))
        start += end + (plain[end : end + 1] == [" "])
    return "<br>".join(lines)


def _may_end(last: str, following: str) -> bool:
    """Whether a line may end between two characters: before a space, within a compound, beside a Chinese character."""
    if following == " " or last == "-":
        return following == " " or following.isalpha()
    kinds = unicodedata.category(last), unicodedata.category(following)
    return columns(last + following) > 2 and kinds[0] not in _NEVER_LAST and kinds[1] not in _NEVER_FIRST


def name_rows_above(fig: go.Figure, names: Sequence[str], up: float, **options) -> None:
    """`name_rows`, each name above its row's marks instead of beside them: on a phone there is no room for both.
    up: how far the foot of a name is above the middle of its row, in rows."""
    inside = {"ticklabelposition": "inside top", "ticklabeloverflow": "allow"}
    name_rows(fig, names, **inside | {"tickvals": [place - up for place in range(len(names))]} | options)


def line_below_names(
    fig: go.Figure, x: float, rows: int, up: float, pitch: float, line: Mapping, axes: str = ""
) -> None:
    """A vertical line at x with a gap where each name of `name_rows_above` stands, so that it crosses none. up: as
    there · pitch: pixels from row to row · axes: number of the panel's axes."""
    panel = {"type": "line", "xref": f"x{axes}", "yref": f"y{axes}", "line": line, "layer": "below"}
    until = 1 - up - 18 / pitch  # a name is 18 pixels high
    parts = ({"x0": x, "x1": x, "y0": row - up, "y1": row + until} | panel for row in range(rows))
    fig.layout.shapes = (*fig.layout.shapes, *parts)


def fit_axis(fig: go.Figure, values: Iterable[float], **axis) -> None:
    """The x axis ends where the values do, with some room: plotly would add room for names inside the plot."""
    low, high = min(values := list(values)), max(values)
    room = 0.07 * (high - low or 1)
    fig.update_xaxes(range=[low - room, high + room], **axis)


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
    parts = fig.to_dict()
    apply_to_parts(parts)
    names = ("textfont", "outsidetextfont")
    fonts = [{name: trace[name] for name in names if name in trace} for trace in parts["data"]]
    layout = {name: part for name, part in parts["layout"].items() if name != "template"}
    return fig.update(data=fonts, layout=layout)


def apply_to_parts(parts: dict) -> None:
    """`apply` for a figure's `to_dict()`, in place: plotly would check each setting, which takes 12 ms."""
    layout = parts["layout"]
    _at_least(SMALL, layout, "font")
    for name, usual in (("paper_bgcolor", "rgba(0,0,0,0)"), ("plot_bgcolor", "rgba(0,0,0,0)"), ("colorway", PALETTE)):
        layout[name] = layout.get(name) or usual
    _at_least(SMALL, layout, "hoverlabel", "font")
    _at_least(SMALL, layout, "legend", "font", usual=SMALL)
    title = layout.get("title", {}).get("text")
    layout["margin"] = {"l": 8, "r": 8, "t": 48 if title else 24, "b": 8} | layout.get("margin", {})
    if title:
        _at_least(FONT_SIZE, layout, "title", "font", usual=18)
    for name in {"xaxis", "yaxis", *filter(_AXIS.fullmatch, layout)}:
        _apply_axis(layout.setdefault(name, {}))
    _colour_words(parts)


def _at_least(least: int, part: dict, *path: str, usual: int = FONT_SIZE) -> None:
    """Set the size of the font at `path`: its own or else `usual`, but not below `least`."""
    for name in path:
        part = part.setdefault(name, {})
    part["size"] = max(part.get("size") or usual, least)


def _apply_axis(axis: dict) -> None:
    _at_least(SMALL, axis, "tickfont", usual=SMALL)
    _at_least(SMALL, axis, "title", "font")
    axis.setdefault("automargin", True)
    axis.setdefault("zeroline", False)
    if axis.get("tickformat") == ".0%":
        axis["tickformat"] = ".2~%"  # whole percents stay so; in a narrow range they would repeat
    axis["gridcolor"] = axis.get("gridcolor") or "rgba(138,143,152,0.25)"


def _colour_words(parts: dict) -> None:
    """Give text outside bars and cells the page's text colour: a chart theme's grey is too faint."""
    for note in parts["layout"].get("annotations", ()):
        font = note.setdefault("font", {})
        font["color"] = font.get("color") or WORDS
    for trace in parts["data"]:
        if trace.get("textfont", {}).get("color") is not None:
            continue
        if trace["type"] == "scatter" and "text" in (trace.get("mode") or ""):
            trace.setdefault("textfont", {})["color"] = WORDS
        elif trace["type"] == "bar" and trace.get("outsidetextfont", {}).get("color") is None:
            trace.setdefault("outsidetextfont", {})["color"] = WORDS


class Finished(go.Figure):
    """A figure as its `to_dict()`, made once however often it is sent: plotly makes it anew, and twice, each time."""

    def __init__(self, parts: dict):
        self._parts = parts

    def to_dict(self) -> dict:
        return self._parts


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


def untitled(parts: dict) -> str:
    """Remove the title and its space from a figure's `to_dict()`, in place; returns it as plain text, "" for none."""
    layout = parts["layout"]
    title = layout.get("title", {}).get("text")
    if not title:
        return ""
    del layout["title"]["text"]
    if top := layout.get("margin", {}).get("t"):
        layout["margin"]["t"] = max(24, top - TITLE)
    if layout.get("height"):
        layout["height"] -= TITLE
    return html.unescape(re.sub(r"</?b>", "", title))


def enlarge(parts: dict, factor: float) -> bool:
    """Enlarge type, markers and margins of a figure's `to_dict()` by `factor`, in place: for the back row of a room.

    The width stays that of the page; the height grows by `factor` too, up to PROJECTED_HEIGHT. Returns whether it has
    grown by all of it: a screen that is low takes it back (ui/projector.css).
    """
    layout = parts["layout"]
    _enlarge(parts["data"], factor)
    _enlarge({name: part for name, part in layout.items() if name != "template"}, factor)
    height = layout.get("height") or USUAL_HEIGHT
    layout["height"] = max(height, min(factor * height, PROJECTED_HEIGHT))
    return layout["height"] == factor * height


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
