"""Projector mode: larger type and fewer controls, for the back row of a room.

It applies to one session, on every page, until it is switched off; links contain it as `projector=1`.
"""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.translations import _

TYPE = 1.35  # type size factor in figures; projector.css sets that of the page
_LINK, _ON, _SWITCH = "projector", "_projector", "projector-switch"


def projecting() -> bool:
    """Whether projector mode is on: as the link says, else as chosen before in this session."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return False
    return {"0": False, "1": True}.get(st.query_params.get(_LINK), st.session_state.get(_ON, False))


def projector_switch() -> None:
    """Toggle for projector mode in the sidebar; also loads its style sheet if it is on."""
    on = st.session_state[_ON] = st.session_state[_SWITCH] = projecting()
    st.sidebar.toggle(
        _("Projector mode"),
        key=_SWITCH,
        on_change=_choose,
        help=_("Larger type and fewer controls, for a room. It is in the address, too: `projector=1`."),
    )
    if on:
        if _LINK not in st.query_params:
            st.query_params[_LINK] = "1"  # changing the page clears the parameters, but shared links must have it
        st.html(Path(__file__).with_name("projector.css"))


def _choose() -> None:
    on = st.session_state[_ON] = st.session_state[_SWITCH]
    if on:
        st.query_params[_LINK] = "1"
    else:
        st.query_params.pop(_LINK, None)
