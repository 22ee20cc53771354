"""How many are present, what runs and waits, how full the disk is; refreshed while the page is open."""

import streamlit as st

from ui.disk import free, nearly_full
from ui.room.entrance import is_teacher, visitors
from ui.runs import manager
from ui.translations import _

REFRESH = 3.0  # seconds


@st.fragment(run_every=REFRESH)
def show() -> None:
    if not is_teacher():  # the key was given back in another window
        st.rerun()
    here = visitors().here()
    going = [run for run in manager().runs() if not run.over]
    waiting = [run for run in going if run.state == "queued"]
    with st.container(horizontal=True, gap="medium", key="class-numbers"):
        st.metric(_("there"), f"{len(here):,}", width="content")
        st.metric(_("addresses"), f"{len({one.address for one in here}):,}", width="content")
        st.metric(_("training"), f"{len(going) - len(waiting):,}", width="content")
        st.metric(_("waiting"), f"{len(waiting):,}", width="content")
        st.metric(_("GB free on the disk"), f"{free() / 1e9:,.1f}", width="content")
    if nearly_full():
        st.warning(
            _("The disk is nearly full: what is trained now may have to wait for room. Clear runs that have ended."),
            icon=":material/hard_drive:",
        )
