"""State stored in the link (the query parameters), so that a teacher shares exactly what is on screen.

Most widgets do it themselves: `st.slider(..., key="rate", bind="query-params")`. These helpers are for values without
such a widget. Invalid values in a link are silently replaced by the default; nothing here raises because of them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote_plus

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import get_session_state

VISIT = "_visit"  # session_state key: a number that grows with every change of page
EVERY_PAGE = {"projector", "lang", "embed", "embed_options"}  # parameters of any page that do not set its content
_NOTES = "_notes"  # session_state key: kind → name → value
_OPENED = "_opened"  # session_state key: (visit, whether its link set page content)
_batch: ContextVar[dict[str, bool] | None] = ContextVar("batch", default=None)
MAX_URL_TEXT = 4_000  # characters of a text as a link encodes it; some proxies refuse URLs of more than 8,000


def notes(kind: str) -> dict[str, Any]:
    """What the session remembers of one kind, by name. All kinds are one entry of session_state: for every field, radio
    and select box Streamlit reads all entries."""
    return st.session_state.setdefault(_NOTES, {}).setdefault(kind, {})


def url_text(name: str, default: str = "") -> str:
    """The parameter `name` of the link, of any length; `default` if missing."""
    return st.query_params.get(name, default)


def fits_link(text: str) -> bool:
    """Whether a link can hold the text: a Chinese character takes nine of its characters."""
    return len(quote_plus(text, errors="replace")) <= MAX_URL_TEXT


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
    """Store a value in the link; the default, None and over-long text are left out to keep links short.

    A default that the link contains stays: each write adds an entry to the browser's history, and one made on opening
    the page again would undo the browser's Back.
    """
    text = "" if value is None else str(value)
    linked = fits_link(text)
    notes("unlinked")[name] = not linked
    if value is not None and linked and st.query_params.get(name) == text:
        return
    if value is not None and value != default and linked:
        _write(name, text)
    elif name in st.query_params:
        _write(name, None)


@contextmanager
def one_history_entry() -> Iterator[None]:
    """Send all that `set_url` changes within this block in one message, at its end.

    The browser adds an entry to its history for each message; a new sentence may change several parameters.
    """
    batch = {"open": True, "changed": False}
    token = _batch.set(batch)
    try:
        yield
    finally:
        _batch.reset(token)
        batch["open"] = False  # a parallel fragment may still hold it
        if batch["changed"]:
            st.query_params.update()  # sends the parameters as they are


def _write(name: str, text: str | None) -> None:
    """Set a parameter of the link, or remove it with None."""
    batch = _batch.get()
    if batch is not None and batch["open"]:
        with get_session_state().query_params() as params:
            if text is None:
                params.discard_param_no_forward_msg(name)
            else:
                params.set_with_no_forward_msg(name, text)
        batch["changed"] = True
    elif text is None:
        del st.query_params[name]
    else:
        st.query_params[name] = text


def follow_link(name: str) -> bool:
    """Whether the widget `name` should now take its value from the link.

    True at the first call in a visit of the page if the link has the value, and after the browser's Back or Forward.
    Otherwise the widget's value is newer, and the link is updated to it a moment later.
    """
    seen, visit = notes("link"), st.session_state.get(VISIT, 0)
    opened, seen[name] = seen.get(name) != visit, visit
    if name in st.query_params:
        return opened or went_back()
    return went_back() and not notes("unlinked").get(name)  # keep a text too long for the link


def hold(*keys: str) -> None:
    """Assign the values of these widgets again, before they are drawn: a widget in a closed popover is not on screen,
    and when the popover opens it shows, and sends, its default unless the last run has assigned it another value."""
    for key in keys:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def hold_absent(absent: bool, *keys: str) -> None:
    """`hold` for widgets that some parts of a page leave out, called before they are drawn: while they are absent, and
    once more when they return, or the browser shows them empty."""
    if absent or notes("absent").pop(keys[0], False):
        hold(*keys)
    if absent:
        notes("absent")[keys[0]] = True


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
