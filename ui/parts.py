"""Which part of a page is open, also by a link from the time when its parts stood below each other: such a link says it
only by what it holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from ui.page import tabs
from ui.state import opened_by_link, set_url

FIRST = "first"  # in the link where the first part is open, and something of another is in the link as well


def opened(parts: Mapping[str, Any], about: Mapping[str, Sequence[str]], *, key: str = "part") -> Iterator:
    """`ui.page.tabs`. about: title of a part → names in the link that only it has, the first that fits counts."""
    link = st.query_params
    fitting = next((title for title, names in about.items() if any(name in link for name in names)), None)
    if fitting and opened_by_link() and key not in st.session_state and key not in link and FIRST not in link:
        st.session_state[key] = fitting
    for tab, part in tabs(parts, key=key):
        set_url(FIRST, "1" if fitting and part is next(iter(parts.values())) else None)
        yield tab, part
