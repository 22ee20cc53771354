"""A plotly figure on a page: our look, the page's width, and its content in words and numbers for who cannot see it."""

import hashlib
import html
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
) -> list[dict]:
    """Draw a figure, its title above it, and return the points selected in it (empty without `on_select`).

    fig: a figure, or `partial(plot, …)`, which draws it: then it is drawn once for all who look at the same, and never
    changed. alt: what it shows, with its main numbers, in a sentence or two: read by screen readers, and shown under
    “In words and numbers”. data: the numbers as a table there (anything st.dataframe takes, or a function that makes
    it when the reader opens it). on_select: "rerun" or a callback; a click on a point then reruns the fragment or page,
    and the point's `customdata` says what was clicked. A heatmap cell sends no click: draw square scatter markers.
    wide: what is in it would run into each other on a phone, which scrolls it.
    """
    options = (height, on_select is not None, TYPE if projecting() else None)
    fig, said = _drawn(_name(fig), fig, *options) if isinstance(fig, partial) else _finished(fig, *options)
    if said:  # above it as text: it goes on in a second line where a figure's own is cut
        st.html(f'<p class="mb-finding" data-of="{html.escape(key)}" dir="auto">{html.escape(said)}</p>')
    config = dict(_CONFIG, displayModeBar="hover" if modebar else False)
    chosen: list[dict] = []
    with st.container(key=f"wide-{key}") if wide else nullcontext():
        if on_select is None:
            st.plotly_chart(fig, key=key, config=config, alt=alt)
        else:
            state = st.plotly_chart(fig, key=key, config=config, alt=alt, on_select=on_select, selection_mode="points")
            chosen = list(state.selection.points) if state else []
    in_words(alt, f"{key}-words", data)
    return chosen


def _name(plot: partial) -> str:
    """Says all that a figure is drawn from."""
    what = (plot.func.__module__, plot.func.__qualname__, plot.args, sorted(plot.keywords.items()))
    return hashlib.sha256(pickle.dumps(what)).hexdigest()


@st.cache_resource(show_spinner=False, max_entries=256)
def _drawn(name: str, _plot: partial, height: int | None, clicked: bool, type_size: float | None):
    return _finished(_plot(), height, clicked, type_size)


def _finished(fig, height: int | None, clicked: bool, type_size: float | None):
    """A figure with our look and what a click needs, and its title, which is taken out of it."""
    from plots.theme import apply, enlarged, untitled

    said = untitled(fig)
    apply(fig)
    if height is not None:
        fig.update_layout(height=height)
    if type_size is not None:
        fig = enlarged(fig, type_size)
    if clicked:
        fig.update_layout(clickmode="event+select", dragmode=False)
        for trace in fig.select_traces({"type": "scatter"}):
            if trace.unselected.marker.opacity is None:  # a click must not fade everything else
                trace.unselected.marker.opacity = 1 if trace.marker.opacity is None else trace.marker.opacity
    return fig, said


def legend(entries: Sequence[tuple[str, str, str]]) -> None:
    """What the colours and shapes of figures mean: (colour, symbol such as ●, words) each, in a row."""
    items = "".join(
        f'<li><span aria-hidden="true" style="color:{html.escape(colour)}">{html.escape(symbol)}</span>'
        f"{html.escape(words)}</li>"
        for colour, symbol, words in entries
    )
    st.html(f'<ul class="mb-legend">{items}</ul>')


@fragment
def in_words(alt: str, key: str, data: Any) -> None:
    """The text alternative of a picture and its numbers as a table, under it. Opened by few: the table is made only
    then, and opening it reruns nothing else (or the fragment it stands in). A projector shows the picture alone."""
    if projecting():
        return
    words = st.expander(_("In words and numbers"), key=key, on_change="rerun", icon=":material/notes:", type="compact")
    if words.open:
        with words:
            st.text(alt)
            if data is not None:
                st.dataframe(data() if callable(data) else data)
