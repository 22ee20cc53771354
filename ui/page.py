"""The form that all lessons share: the central picture, the drawer of what sets it, the parts in tabs."""

from collections.abc import Iterator, Mapping
from typing import Any

import streamlit as st

from ui.translations import _


def picture():
    """The container of the page's central picture: one a page, in its first screen."""
    return st.container(key="picture")


def drawer(label: str | None = None, *, key: str = "drawer"):
    """A container behind a small button, for what sets the picture and is seldom changed: model, seed, padding. What
    is in it counts whether it is open or not."""
    return st.popover(label or _("Settings"), icon=":material/tune:", key=key)


def tabs(parts: Mapping[str, Any], *, key: str = "part") -> Iterator[tuple[Any, Any]]:
    """Tabs of which only the open one is computed and drawn → (tab, part) of that one; its title is in the link.

    parts: title → anything, in most lessons the module of a section.
    """
    opened = st.tabs(list(parts), key=key, on_change="rerun", bind="query-params")
    for tab, part in zip(opened, parts.values(), strict=True):
        if tab.open:
            yield tab, part
