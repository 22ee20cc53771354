"""Layout that all lessons share: the central picture, a popover with its settings, the parts in tabs."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import streamlit as st

from ui.inputs import choice
from ui.state import follow_link, hold, set_url, url_choice
from ui.translations import _, english


def style(section: ModuleType) -> None:
    """Add the style sheet of a lesson: sections/<lesson>/<lesson>.css, beside any of its sections."""
    folder = Path(section.__file__).parent
    st.html(folder / f"{folder.name}.css")


def picture():
    """Container of the page's central picture: one per page, visible without scrolling."""
    return st.container(key="picture")


def drawer(
    label: str | None = None, *, key: str = "drawer", icon: str = ":material/tune:", holds: tuple[str, ...] = ()
):
    """A popover for settings of the picture that are seldom changed: model, seed, padding. Its widgets take effect even
    while it is closed. holds: the keys of those that no function of ui draws (`ui.state.hold`)."""
    hold(*holds)
    return st.popover(label or _("Settings"), icon=icon, key=key)


def with_drawer(label: str | None = None, *, key: str = "drawer", holds: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """(container for an input field, drawer beside it) in one row, for pages with a single field."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="subject"):
        return st.container(), drawer(label or _("Examples"), key=key, holds=holds)


def open_part(parts: Mapping[str, Any], *, key: str = "part", default: str | None = None) -> Any:
    """The part that `tabs` opens, for what stands above them and is not for all of them."""
    state, titles = st.session_state, {english(title): title for title in parts}
    if follow_link(key) or state.get(key) not in parts:
        state[key] = titles[url_choice(key, list(titles), default or next(iter(titles)))]
    return parts[state[key]]


def tabs(parts: Mapping[str, Any], *, key: str = "part", default: str | None = None) -> Iterator[tuple[Any, Any]]:
    """Tabs of which only the open one is computed and drawn → (tab, part) of that one; the link has its English title.

    parts: title → anything, in most lessons the module of a section · default: an English title, if not the first.
    """
    titles = list(parts)
    open_part(parts, key=key, default=default)
    opened = st.tabs(titles, key=key, on_change="rerun")
    opened_part = next(title for title in titles if title == st.session_state[key])  # in the state it is a plain str
    set_url(key, english(opened_part), default=default or english(titles[0]))
    for tab, part in zip(opened, parts.values(), strict=True):
        if tab.open:
            yield tab, part


def show_parts(
    parts: Mapping[str, ModuleType | Callable | str], lesson: Any, inputs: Any, *, default: str | None = None
) -> None:
    """`tabs` of sections, each a function of (lesson, inputs), a module with such a function `show`, or the heading of
    prose that stands alone."""
    for tab, part in tabs(parts, default=default):
        with tab:
            if isinstance(part, str):
                lesson.show(part, title=False)
            else:
                (part if callable(part) else part.show)(lesson, inputs)


def views(
    key: str, parts: Mapping[str, tuple[str, ModuleType | Callable]], *, default: str | None = None
) -> Callable[[Any, Any], None]:
    """A part of several views, of which the chosen one is shown; the link stores its name as `key`. parts: name →
    (title, as in `show_parts`) · default: if not the first."""

    def show(lesson: Any, inputs: Any) -> None:
        titles = {name: title for name, (title, _part) in parts.items()}
        part = parts[choice(key, _("What to look at"), titles, default=default, bare=True, wrap=True)][1]
        (part if callable(part) else part.show)(lesson, inputs)

    return show
