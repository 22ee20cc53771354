"""State that lives in the link, so that a teacher shares exactly what is on screen.

Most widgets do it themselves: `st.slider(..., key="rate", bind="query-params")`. These helpers are for values that have
no such widget. A bad value in a link falls back quietly to the default; nothing here raises on what a link says.
"""

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

VISIT = "_visit"  # session_state key: a number that grows with every change of page
# What a link may say on any page: nothing of what is on it. "tab" is the key of tabs that no older link has.
EVERY_PAGE = {"projector", "lang", "embed", "embed_options", "tab"}
_OPENED = "_opened"  # session_state key: (visit, whether its link said something)
_BESIDE = "_beside"  # session_state key: (visit, {name: value})
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
        visit, beside = st.session_state.get(_BESIDE, (None, {}))
        if visit == st.session_state.get(VISIT, 0):
            others = {other: said for other, said in beside.items() if said is not None}
            values |= {other: said for other, said in others.items() if other not in {name, *st.query_params}}
        st.query_params.update(values)  # at once: each write is a step in the browser's history


def say_beside(name: str, value: str | None) -> None:
    """On this visit of the page, a link that says anything else says this, too. A link that says nothing stays so: to
    write into it at once would put a step into the browser's history that nobody took. None: nothing any more."""
    visit, beside = st.session_state.get(_BESIDE, (None, {}))
    now = st.session_state.get(VISIT, 0)
    st.session_state[_BESIDE] = (now, {**(beside if visit == now else {}), name: value})


def usual_in_link(first: Any, usual: Any) -> Any:
    """What a link without the name of a choice means: one that says something is older than the page's usual choice,
    and shows the first, as it did then."""
    older = st.query_params.keys() - EVERY_PAGE and (opened_by_link() or went_back())
    return first if older else usual


def say_choice(name: str, chosen: str, first: str, usual: str) -> None:
    """Put a choice in the link so that `usual_in_link` finds it again."""
    if usual == first:
        set_url(name, chosen, default=first)
    else:
        set_url(name, chosen, default=None if st.query_params.keys() - EVERY_PAGE - {name} else usual)
        say_beside(name, chosen)


def say_unusual(name: str, chosen: str, first: str, usual: str) -> None:
    """`say_choice` for one of many such choices: an older link stays as it was opened until something else goes in."""
    if chosen == first != usual and name not in st.query_params and st.query_params.keys() - EVERY_PAGE:
        say_beside(name, chosen)
    else:
        say_choice(name, chosen, first, usual)


def follow_link(name: str) -> bool:
    """Whether the value under `name` in the link now counts for more than what is on screen.

    So it is when the page is opened by a link, and when the reader goes back or forward in the browser. Otherwise what
    is on screen is newer: the link follows it, a moment later.
    """
    visit = st.session_state.get(VISIT, 0)
    opened = st.session_state.get(f"_link.{name}") != visit
    st.session_state[f"_link.{name}"] = visit
    if name in st.query_params:
        return opened or went_back()
    return went_back() and not st.session_state.get(f"_unlinked.{name}", False)  # a long text is never lost


def went_back() -> bool:
    """Whether the reader goes back or forward in the browser: then the link alone says what is on the page."""
    return getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", False)


def opened_by_link() -> bool:
    """Whether the page was opened by a link that says what is on it. Told by the first call on a visit; `Lesson.open`
    is one."""
    state = st.session_state
    visit = state.get(VISIT, 0)
    if state.get(_OPENED, (None,))[0] != visit:
        state[_OPENED] = (visit, bool(st.query_params.keys() - EVERY_PAGE))
    return state[_OPENED][1]
