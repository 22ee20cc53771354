"""Tabs that also understand links from before there were tabs: such links name no part; it follows from their
other parameters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from ui.page import tabs
from ui.state import opened_by_link, set_url

FIRST = "first"  # link parameter: the first part is open although the link has another part's parameters


def opened(parts: Mapping[str, Any], about: Mapping[str, Sequence[str]], *, key: str = "part") -> Iterator:
    """Like `ui.page.tabs`. about: title of a part → link parameters only it uses; the first match is opened."""
    link = st.query_params
    fitting = next((title for title, names in about.items() if any(name in link for name in names)), None)
    if fitting and opened_by_link() and key not in st.session_state and key not in link and FIRST not in link:
        st.session_state[key] = fitting
    for tab, part in tabs(parts, key=key):
        set_url(FIRST, "1" if fitting and part is next(iter(parts.values())) else None)
        yield tab, part
