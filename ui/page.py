"""Layout that all lessons share: the central picture, a popover with its settings, the parts in tabs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import streamlit as st

from ui.state import follow_link, set_url, url_choice
from ui.translations import _


def picture():
    """Container of the page's central picture: one per page, visible without scrolling."""
    return st.container(key="picture")


def drawer(label: str | None = None, *, key: str = "drawer", icon: str = ":material/tune:"):
    """A popover for settings of the picture that are seldom changed: model, seed, padding. Its widgets take effect even
    while it is closed."""
    return st.popover(label or _("Settings"), icon=icon, key=key)


def with_drawer(label: str | None = None, *, key: str = "drawer") -> tuple[Any, Any]:
    """(container for an input field, drawer beside it) in one row, for pages with a single field."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="subject"):
        return st.container(), drawer(label or _("Examples"), key=key)


def tabs(
    parts: Mapping[str, Any], *, key: str = "part", older: Mapping[str, Collection[str]] | None = None
) -> Iterator[tuple[Any, Any]]:
    """Tabs of which only the open one is computed and drawn → (tab, part) of that one; the link stores its title.

    parts: title → anything, in most lessons the module of a section · older: title → link parameters only this part
    uses: a link with one of them but no tab, as made before there were tabs, opens this part.
    """
    state, titles, older = st.session_state, list(parts), older or {}
    named = (title for title in titles if st.query_params.keys() & set(older.get(title, ())))
    meant = next(named, titles[0])  # if the link names no tab
    if follow_link(key) or state.get(key) not in titles:
        state[key] = url_choice(key, titles, meant)
    opened = st.tabs(titles, key=key, on_change="rerun")
    set_url(key, state[key], default=meant)
    for tab, part in zip(opened, parts.values(), strict=True):
        if tab.open:
            yield tab, part
