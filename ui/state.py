"""State stored in the link (the query parameters), so that a teacher shares exactly what is on screen.

Most widgets do it themselves: `st.slider(..., key="rate", bind="query-params")`. These helpers are for values without
such a widget. Invalid values in a link are silently replaced by the default; nothing here raises because of them.
"""

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

VISIT = "_visit"  # session_state key: a number that grows with every change of page
# Parameters valid on any page that do not set its content. "tab" is the key of tabs that no older link contains.
EVERY_PAGE = {"projector", "lang", "embed", "embed_options", "tab"}
_OPENED = "_opened"  # session_state key: (visit, whether its link set page content)
_BESIDE = "_beside"  # session_state key: (visit, {name: value})
MAX_URL_TEXT = 500  # characters of free text stored in a link; some proxies refuse URLs of more than a few thousand


def url_text(name: str, default: str = "") -> str:
    """The parameter `name` of the link; `default` if missing or longer than MAX_URL_TEXT."""
    value = st.query_params.get(name)
    return default if value is None or len(value) > MAX_URL_TEXT else value


def url_int(name: str, default: int, low: int, high: int) -> int:
    """The parameter `name` of the link if it is an integer within low…high, else `default`."""
    value = st.query_params.get(name, "")
    if not re.fullmatch(r"-?[0-9]{1,12}", value):  # int() also accepts "1_0", " 3", "٣" and a megabyte of digits
        return default
    number = int(value)
    return number if low <= number <= high else default


def url_choice(name: str, options: Sequence[str], default: str) -> str:
    """The parameter `name` of the link if it is one of `options`, else `default`."""
    value = st.query_params.get(name)
    return value if value in options else default


def set_url(name: str, value: object, default: object = None) -> None:
    """Store a value in the link; the default, None and over-long text are left out to keep links short."""
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
        st.query_params.update(values)  # in one call: each write adds an entry to the browser's history


def say_beside(name: str, value: str | None) -> None:
    """During this visit of the page, add this value to the link as soon as `set_url` writes another one. Writing it at
    once into an empty link would add a browser history entry without any action of the user. None: cancel."""
    visit, beside = st.session_state.get(_BESIDE, (None, {}))
    now = st.session_state.get(VISIT, 0)
    st.session_state[_BESIDE] = (now, {**(beside if visit == now else {}), name: value})


def usual_in_link(first: Any, usual: Any) -> Any:
    """Value of a choice that the link does not contain: `usual`, or `first` if the link sets other things: such a link
    may date from when `first` was the default."""
    older = st.query_params.keys() - EVERY_PAGE and (opened_by_link() or went_back())
    return first if older else usual


def say_choice(name: str, chosen: str, first: str, usual: str) -> None:
    """Store a choice in the link such that `usual_in_link` restores it."""
    if usual == first:
        set_url(name, chosen, default=first)
    else:
        set_url(name, chosen, default=None if st.query_params.keys() - EVERY_PAGE - {name} else usual)
        say_beside(name, chosen)


def say_unusual(name: str, chosen: str, first: str, usual: str) -> None:
    """`say_choice` on pages with several choices: adds `first` to an older link only when something else changes."""
    if chosen == first != usual and name not in st.query_params and st.query_params.keys() - EVERY_PAGE:
        say_beside(name, chosen)
    else:
        say_choice(name, chosen, first, usual)


def follow_link(name: str) -> bool:
    """Whether the widget `name` should now take its value from the link.

    True at the first call in a visit of the page if the link has the value, and after the browser's Back or Forward.
    Otherwise the widget's value is newer, and the link is updated to it a moment later.
    """
    visit = st.session_state.get(VISIT, 0)
    opened = st.session_state.get(f"_link.{name}") != visit
    st.session_state[f"_link.{name}"] = visit
    if name in st.query_params:
        return opened or went_back()
    return went_back() and not st.session_state.get(f"_unlinked.{name}", False)  # keep a text too long for the link


def went_back() -> bool:
    """Whether this run follows the browser's Back or Forward: then the link alone determines the page's content."""
    return getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", False)


def opened_by_link() -> bool:
    """Whether the page was opened by a link that sets its content, as found by the first call in a visit of the page
    (`Lesson.open` makes one)."""
    state = st.session_state
    visit = state.get(VISIT, 0)
    if state.get(_OPENED, (None,))[0] != visit:
        state[_OPENED] = (visit, bool(st.query_params.keys() - EVERY_PAGE))
    return state[_OPENED][1]
