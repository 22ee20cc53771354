"""State that lives in the link, so that a teacher shares exactly what is on screen.

Most widgets do it themselves: `st.slider(..., key="rate", bind="query-params")`. These helpers are for values that have
no such widget. A bad value in a link falls back quietly to the default; nothing here raises on what a link says.
"""

import re
from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

VISIT = "_visit"  # session_state key: a number that grows with every change of page
_BESIDE = "_beside"  # session_state key: (visit, name, value)
MAX_URL_TEXT = 500  # characters of free text that may go in a link; some proxies refuse addresses beyond a few thousand


def url_text(name: str, default: str = "") -> str:
    """The text under `name` in the link."""
    value = st.query_params.get(name)
    return default if value is None or len(value) > MAX_URL_TEXT else value


def url_int(name: str, default: int, low: int, high: int) -> int:
    """The whole number under `name` in the link, if it is one within low…high."""
    value = st.query_params.get(name, "")
    if not re.fullmatch(r"-?[0-9]{1,12}", value):  # int() alone takes "1_0", " 3", "٣" and a megabyte of digits
        return default
    number = int(value)
    return number if low <= number <= high else default


def url_choice(name: str, options: Sequence[str], default: str) -> str:
    """The value under `name` in the link, if it is one of `options`."""
    value = st.query_params.get(name)
    return value if value in options else default


def set_url(name: str, value: object, default: object = None) -> None:
    """Put a value in the link; the default, None and over-long text are left out to keep links short."""
    text = "" if value is None else str(value)
    st.session_state[f"_unlinked.{name}"] = len(text) > MAX_URL_TEXT
    if value is None or value == default or len(text) > MAX_URL_TEXT:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != text:
        values = {name: text}
        visit, beside, said = st.session_state.get(_BESIDE, (None, "", ""))
        if visit == st.session_state.get(VISIT, 0) and beside != name and beside not in st.query_params:
            values[beside] = said
        st.query_params.update(values)  # at once: each write is a step in the browser's history


def say_beside(name: str, value: str) -> None:
    """On this visit of the page, a link that says anything else says this, too. A link that says nothing stays so: to
    write into it at once would put a step into the browser's history that nobody took."""
    st.session_state[_BESIDE] = (st.session_state.get(VISIT, 0), name, value)


def follow_link(name: str) -> bool:
    """Whether the value under `name` in the link now counts for more than what is on screen.

    So it is when the page is opened by a link, and when the reader goes back or forward in the browser. Otherwise what
    is on screen is newer: the link follows it, a moment later.
    """
    visit = st.session_state.get(VISIT, 0)
    opened = st.session_state.get(f"_link.{name}") != visit
    st.session_state[f"_link.{name}"] = visit
    went_back = getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", False)
    if name in st.query_params:
        return opened or went_back
    return went_back and not st.session_state.get(f"_unlinked.{name}", False)  # a long text is never lost
