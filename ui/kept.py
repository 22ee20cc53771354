"""What the reader has set on a page, kept while it is not on screen: in a closed tab, or after leaving the page by the
menu. Streamlit forgets a widget as soon as a run of the page does not draw it."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.state import EVERY_PAGE, VISIT, went_back
from ui.text import literal
from ui.translations import _
from ui.uploads import received

_KEPT = "_kept"  # session_state key: page → key → value


def keep(page: str, defaults: Mapping[str, Any], prefixes: tuple[str, ...] = ()) -> None:
    """Give the widgets with these keys the values they had, or at first their defaults; before they are drawn.
    prefixes: of further keys.

    Who opens a link that says what is on the page, or goes back in the browser, is shown what that says.
    """
    state = st.session_state
    kept = state.setdefault(_KEPT, {}).setdefault(page, {})
    visit = state.get(VISIT, 0)
    opened = state.get(f"_kept.{page}") != visit
    state[f"_kept.{page}"] = visit
    if (opened and st.query_params.keys() - EVERY_PAGE) or went_back():
        kept.clear()
    others = (
        {key: None for key in (*state, *kept) if isinstance(key, str) and key.startswith(prefixes)} if prefixes else {}
    )
    for key, default in {**others, **defaults}.items():
        if key in state:
            kept[key] = state[key]
        value = kept.get(key, default)
        if value is not None:
            state[key] = value  # said anew even if it is there: what no widget says is forgotten after a run


def kept_uploader(page: str, key: str, label: str, types: Sequence[str]) -> list:
    """The files that the reader has given: an uploader that comes anew on the screen is empty, and says that they are
    still there."""
    kept = st.session_state.setdefault(_KEPT, {}).setdefault(f"{page} files", {})
    had = f"_had.{page}.{key}"  # session_state key: whether the uploader on screen has held a file
    if key not in st.session_state:
        st.session_state[had] = False
    files = st.file_uploader(label, types, accept_multiple_files=True, key=key)
    taken = received(files)
    if taken:
        kept[key] = taken
        st.session_state[had] = True
    elif st.session_state.get(had):
        kept.pop(key, None)  # taken out by the reader
    elif key in kept and not all(file.there for file in kept[key]):
        kept.pop(key)  # cleared by the server: the reader had been away
    elif key in kept:
        with st.container(horizontal=True, vertical_alignment="center"):
            names = ", ".join(literal(file.name) for file in kept[key])
            st.markdown(_("Still here: {names}").format(names=names))
            st.button(_("Forget"), key=f"{key}-forget", on_click=kept.pop, args=(key, None))
    return kept.get(key, [])
