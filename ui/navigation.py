"""Menu of the course: its pages, their order, and the links between them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.folders import ROOT
from ui.state import VISIT
from ui.translations import _

ICON = str(Path(__file__).with_name("icon.svg"))
# session_state keys: the stops by section; pages outside the course; their st.Pages; the current page
_COURSE, _OTHERS, _PAGES, _HERE = "_course", "_others", "_pages", "_here"


@dataclass(frozen=True)
class CoursePage:
    """One page of the course. `name` is the page's file in pages/, its folder in lessons/ and its address."""

    name: str
    title: str
    icon: str

    @property
    def path(self) -> Path:
        return ROOT / "pages" / f"{self.name}.py"


def open_course(sections: Mapping[str, Sequence[CoursePage]], beside: Sequence[CoursePage] = (), listed: bool = False):
    """Show the menu of the pages that exist and return the current one; the caller runs it.

    The first page is the front page. beside: pages that are not lessons · listed: whether the menu shows them. Also
    loads the style sheet that all pages share.
    """
    st.html(Path(__file__).with_name("style.css"))
    there = set(os.listdir(ROOT / "pages"))
    present = {title: [stop for stop in stops if f"{stop.name}.py" in there] for title, stops in sections.items()}
    stops = [stop for section in present.values() for stop in section]
    st.session_state[_COURSE], st.session_state[_OTHERS] = present, list(beside)

    pages = st.session_state.setdefault(_PAGES, {})  # kept: making one asks the disk five times

    def page_of(stop: CoursePage, **options):
        if pages.get(stop.name, (None,))[0] != (stop, options):
            page = st.Page(stop.path, title=stop.title, icon=stop.icon, url_path=stop.name, **options)
            pages[stop.name] = ((stop, options), page)
        return pages[stop.name][1]

    menu = {title: [page_of(stop, default=stop is stops[0]) for stop in present[title]] for title in present}
    menu = {title: section for title, section in menu.items() if section}
    menu[""] = [page_of(stop, visibility="visible" if listed else "hidden") for stop in beside]
    # Expanded, else the menu hides half of the lessons once the sidebar has other content.
    page = st.navigation(menu, expanded=True)
    if st.session_state.get(_HERE) != page.url_path:
        if _HERE in st.session_state:
            _forget_page()
        st.session_state[_HERE] = page.url_path
        st.session_state[VISIT] = st.session_state.get(VISIT, 0) + 1
    return page


def _forget_page() -> None:
    """Delete the widget values of the previous page: pages may use the same widget keys.

    Streamlit does so too, but only after this page's first run, which would still read the old values.
    """
    for key in [key for key in st.session_state if not key.startswith("_")]:
        del st.session_state[key]


def parts() -> dict[str, list[CoursePage]]:
    """Title of each part of the course → its existing pages, in teaching order."""
    return {title: stops for title, stops in st.session_state.get(_COURSE, {}).items() if stops}


def course() -> list[CoursePage]:
    """The pages that exist, in teaching order."""
    return [stop for stops in parts().values() for stop in stops]


def find_page(name: str) -> CoursePage | None:
    """The page `name`, if it exists."""
    return next((stop for stop in (*course(), *st.session_state.get(_OTHERS, ())) if stop.name == name), None)


def current_page() -> str:
    """Name of the current page."""
    return st.session_state.get(_HERE) or next((stop.name for stop in course()), "")


def link_to(name: str, label: str | None = None, **options) -> None:
    """A link to the page `name`, if it exists. `options` go to st.page_link, e.g. query_params={"layer": 2}."""
    stop = find_page(name)
    if stop is not None:
        icon = options.pop("icon", stop.icon) or ""  # None would be the page's own
        # The st.Page, not its path, which Streamlit would look up on the disk.
        st.page_link(st.session_state[_PAGES][name][1], label=label or stop.title, icon=icon, **options)


def open_again(name: str, query: Mapping[str, str]) -> None:
    """Open the page `name` anew, as by a link with these parameters."""
    page = st.session_state[_PAGES][name][1]
    st.session_state[_HERE] = ""  # a new visit
    st.switch_page(page, query_params=query)


def next_lesson(name: str) -> None:
    """Footer of the page `name`: links to the previous and the next lesson."""
    stops = course()
    here = next((index for index, stop in enumerate(stops) if stop.name == name), None)
    if here is None:
        return
    st.divider()
    with st.container(key="page-foot", horizontal=True, horizontal_alignment="distribute"):
        if here > 0:
            before = stops[here - 1]
            link_to(before.name, _("Back: {title}").format(title=before.title), icon=":material/arrow_back:")
        if here + 1 < len(stops):
            after = stops[here + 1]
            label = _("Next: **{title}**").format(title=after.title)
            link_to(after.name, label, icon=":material/arrow_forward:", icon_position="right")
