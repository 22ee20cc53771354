"""Which part of the page is open. A link from the time when they all stood below each other says it only by what it
holds."""

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import streamlit as st

from sections.tokenization import compare, learn, steps, window
from ui.page import tabs
from ui.state import set_url

ABOUT = {
    steps: ("step", "token"),
    learn: ("merge", "corpus", "scoring", "own", "learn-lower"),
    compare: ("compare",),
}
FIRST = "window"  # in the link where the first part is open, and something of another is in the link as well


def opened(parts: Mapping[str, ModuleType]) -> Iterator[tuple[Any, ModuleType]]:
    """The open tab and its part, as `ui.page.tabs`."""
    link = st.query_params
    about = next((part for part, names in ABOUT.items() if any(name in link for name in names)), None)
    if about and "part" not in st.session_state and "part" not in link and FIRST not in link:
        st.session_state["part"] = next(title for title, part in parts.items() if part is about)
    for tab, part in tabs(parts):
        set_url(FIRST, "1" if part is window and about else None)
        yield tab, part
