"""The form that all lessons share: the central picture, the drawer of what sets it, the parts in tabs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import streamlit as st

from ui.state import follow_link, set_url, url_choice
from ui.translations import _


def picture():
    """The container of the page's central picture: one a page, in its first screen."""
    return st.container(key="picture")


def drawer(label: str | None = None, *, key: str = "drawer", icon: str = ":material/tune:"):
    """A container behind a small button, for what sets the picture and is seldom changed: model, seed, padding. What
    is in it counts whether it is open or not."""
    return st.popover(label or _("Settings"), icon=icon, key=key)


def with_drawer(label: str | None = None, *, key: str = "drawer") -> tuple[Any, Any]:
    """(the place of a field, the drawer beside it) in one row: of a page whose field needs no more than its drawer."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="subject"):
        return st.container(), drawer(label or _("Examples"), key=key)


def tabs(
    parts: Mapping[str, Any], *, key: str = "part", older: Mapping[str, Collection[str]] | None = None
) -> Iterator[tuple[Any, Any]]:
    """Tabs of which only the open one is computed and drawn → (tab, part) of that one; its title is in the link.

    parts: title → anything, in most lessons the module of a section · older: title → what only its part has in the
    link: one that says that and no part was made before there were tabs, and opens it.
    """
    state, titles, older = st.session_state, list(parts), older or {}
    named = (title for title in titles if st.query_params.keys() & set(older.get(title, ())))
    meant = next(named, titles[0])  # by a link that names no part
    if follow_link(key) or state.get(key) not in titles:
        state[key] = url_choice(key, titles, meant)
    opened = st.tabs(titles, key=key, on_change="rerun")
    set_url(key, state[key], default=meant)
    for tab, part in zip(opened, parts.values(), strict=True):
        if tab.open:
            yield tab, part
