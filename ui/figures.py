"""A plotly figure on a page: our theme, the page's width, and its content in words and numbers for accessibility."""

import hashlib
import html
import io
import pickle
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import streamlit as st

from ui.fragments import fragment
from ui.projector import TYPE, projecting
from ui.translations import _

_CONFIG = {
    "displaylogo": False,
    "showSendToCloud": False,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
}


def bars_in_words(blank) -> str:
    """The bars of a `plots.masking.Blank`."""
    shares = (f"{token} {prob:.0%}" for token, prob in zip(blank.tokens, blank.probs, strict=True))
    return _("{title}: {told}").format(title=blank.title, told=_(", ").join(shares))


def figure(
    fig,
    alt: str,
    key: str,
    *,
    on_select: str | Callable | None = None,
    data: Any | Callable[[], Any] = None,
    height: int | None = None,
    modebar: bool = False,
    wide: bool = False,
    title: str = "",
) -> list[dict]:
    """Draw a figure, its title above it, and return the points selected in it (empty without `on_select`).

    fig: a figure, or `partial(plot, …)` that makes it: then all sessions with the same arguments share one cached
    figure, never modified. alt: what it shows, with its main numbers, in a sentence or two: read by screen readers, and
    shown under “In words and numbers”. data: the numbers as a table there (anything st.dataframe takes, or a function
    called when the user opens it). on_select: "rerun" or a callback; a click on a point then reruns the fragment or
    page; the point's `customdata` says what was clicked. A heatmap cell sends no click: draw square scatter markers.
    wide: too dense for a phone, where it scrolls horizontally. title: in place of the figure's own.
    """
    options = (height, on_select is not None, TYPE if projecting() else None)
    fig, said, grown = _drawn(_name(fig), fig, *options) if isinstance(fig, partial) else _finished(fig, *options)
    if title or said:
        figure_title(title or said, key)
    config = dict(_CONFIG, displayModeBar="hover" if modebar else False)
    chosen: list[dict] = []
    with (
        st.container(key=f"wide-{key}") if wide else nullcontext(),
        st.container(key=f"grown-{key}") if grown else nullcontext(),
    ):
        if on_select is None:
            st.plotly_chart(fig, key=key, config=config, alt=alt)
        else:
            state = st.plotly_chart(fig, key=key, config=config, alt=alt, on_select=on_select, selection_mode="points")
            chosen = list(state.selection.points) if state else []
    in_words(alt, f"{key}-words", data)
    return chosen


def figure_title(title: str, key: str) -> None:
    """A figure's title as text: it wraps, while plotly cuts a long one. key: of its figure."""
    st.html(f'<p class="mb-finding" data-of="{html.escape(key)}" dir="auto">{html.escape(title)}</p>')


def _name(plot: partial) -> str:
    """Cache key: a hash of the plot function and its arguments."""
    stream = io.BytesIO()
    _Content(stream).dump((plot.func.__module__, plot.func.__qualname__, plot.args, sorted(plot.keywords.items())))
    return hashlib.sha256(stream.getbuffer()).hexdigest()


class _Content(pickle.Pickler):
    """Pickles equal arguments into equal bytes: without the memo, which tells one object from two equal ones, and of a
    tensor its numbers alone, not the whole memory that it is a view of."""

    def __init__(self, stream: io.BytesIO):
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.fast = True

    def reducer_override(self, obj: Any) -> Any:
        if type(obj).__module__ == "torch" and type(obj).__name__ == "Tensor":
            return str, (obj.detach().numpy(),)
        return NotImplemented


@st.cache_resource(show_spinner=False, max_entries=256)
def _drawn(name: str, _plot: partial, height: int | None, clicked: bool, type_size: float | None):
    return _finished(_plot(), height, clicked, type_size)


def _finished(fig, height: int | None, clicked: bool, type_size: float | None):
    """(the figure with our theme, set up for clicks; its title, removed from the figure; whether it has grown for a
    room by the whole of `type_size`)."""
    from plots.theme import Finished, apply_to_parts, enlarge, untitled

    parts = fig.to_dict()
    title = untitled(parts)
    apply_to_parts(parts)
    if height is not None:
        parts["layout"]["height"] = height
    grown = type_size is not None and enlarge(parts, type_size)
    if clicked:
        parts["layout"] |= {"clickmode": "event+select", "dragmode": False}
        for trace in parts["data"]:
            if trace["type"] == "scatter":  # a click must not fade everything else
                marker = trace.setdefault("unselected", {}).setdefault("marker", {})
                marker.setdefault("opacity", trace.get("marker", {}).get("opacity", 1))
    return Finished(parts), title, grown


def legend(entries: Sequence[tuple[str, str, str]]) -> None:
    """A legend in one row; entries: (colour, symbol such as ●, words) each."""
    items = "".join(
        f'<li><span aria-hidden="true" style="color:{html.escape(colour)}">{html.escape(symbol)}</span>'
        f"{html.escape(words)}</li>"
        for colour, symbol, words in entries
    )
    st.html(f'<ul class="mb-legend">{items}</ul>')


@fragment
def in_words(alt: str, key: str, data: Any) -> None:
    """Expander with a picture's text alternative and its numbers as a table. The table is made only when opened, and
    opening reruns only this (or the surrounding fragment). Left out in projector mode."""
    if projecting():
        return
    words = st.expander(_("In words and numbers"), key=key, on_change="rerun", icon=":material/notes:", type="compact")
    if words.open:
        with words:
            st.text(alt)
            if data is not None:
                st.dataframe(data() if callable(data) else data)
