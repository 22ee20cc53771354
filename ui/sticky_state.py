"""Keeps widget values while the widgets are not drawn: in a closed tab, or after leaving the page by the menu.
Streamlit drops a widget's value as soon as a run of the page does not draw it."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.state import VISIT, notes, opened_by_link, went_back
from ui.text import literal
from ui.translations import _
from ui.uploads import received

_KEPT = "_kept"  # session_state key: page → key → value


def keep(page: str, defaults: Mapping[str, Any], prefixes: tuple[str, ...] = ()) -> None:
    """Restore the values of the widgets with these keys, initially their defaults; call it before drawing them.
    prefixes: also keep all keys that start with one of these.

    A link that sets something on the page, and the browser's Back, take precedence: they clear the kept values.
    """
    state = st.session_state
    stored = state.setdefault(_KEPT, {}).setdefault(page, {})
    kept, visit = notes("kept"), state.get(VISIT, 0)
    opened, kept[page] = kept.get(page) != visit, visit
    if (opened and opened_by_link()) or went_back():
        stored.clear()
    others = (
        {key: None for key in (*state, *stored) if isinstance(key, str) and key.startswith(prefixes)}
        if prefixes
        else {}
    )
    for key, default in {**others, **defaults}.items():
        if key in state:
            stored[key] = state[key]
        value = stored.get(key, default)
        if value is not None:
            state[key] = value  # assign even if present: otherwise Streamlit drops undrawn widgets' values


def sticky_uploader(page: str, key: str, label: str, types: Sequence[str]) -> list:
    """An uploader that keeps its files → the files. When it is drawn anew it is empty, so the names of the kept files
    are listed below it."""
    stored = st.session_state.setdefault(_KEPT, {}).setdefault(f"{page} files", {})
    held, shown = notes("held"), f"{page}.{key}"  # whether the uploader on screen has held a file
    if key not in st.session_state:
        held[shown] = False
    files = st.file_uploader(label, types, accept_multiple_files=True, key=key)
    taken = received(files)
    if taken:
        stored[key] = taken
        held[shown] = True
    elif held.get(shown):
        stored.pop(key, None)  # removed by the user
    elif key in stored and not all(file.there for file in stored[key]):
        stored.pop(key)  # removed by the server while the user was disconnected
    elif key in stored:
        with st.container(horizontal=True, vertical_alignment="center"):
            names = _(", ").join(literal(file.name) for file in stored[key])
            st.markdown(_("Still here: {names}").format(names=names))
            st.button(_("Forget"), key=f"{key}-forget", on_click=stored.pop, args=(key, None))
    return stored.get(key, [])
