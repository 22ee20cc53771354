"""Who is present: no names, but what tells them apart, the page they look at, and their runs."""

import time
from collections import Counter

import streamlit as st

from sections.classroom.runs import stop_of
from ui.navigation import find_page
from ui.room.entrance import change, is_teacher, visitors
from ui.runs import manager
from ui.translations import _
from ui.visitor import HERE, owner

REFRESH, MOST = 5.0, 100  # seconds; rows


def show() -> None:
    st.subheader(_("Who is there"), anchor=False)
    _table()
    _one()


@st.fragment(run_every=REFRESH)
def _table() -> None:
    if not is_teacher():
        return
    here = visitors().here()[:MOST]
    if not here:
        st.markdown(_("Nobody has opened a page in the last seconds."))
        return
    runs = manager().runs()
    ended = Counter(run.owner.split("-")[0] for run in runs if run.over)
    going = Counter(run.owner.split("-")[0] for run in runs if not run.over)
    now = time.time()
    st.dataframe(
        [
            {
                _("who"): one.name + (" " + _("(you)") if one.owner == owner() else ""),
                _("looks at"): title_of(one.page),
                _("for minutes"): int((now - one.first) / 60),
                _("training or waiting"): going[one.owner],
                _("ended runs"): ended[one.owner],
                _("address"): _("this computer") if one.address == HERE else one.address,
            }
            for one in here
        ],
        hide_index=True,
    )


def title_of(page: str) -> str:
    stop = find_page(page or "home")
    return stop.title if stop else ""


def _one() -> None:
    """Actions on one of them."""
    others = {one.owner: one.name for one in visitors().here() if one.owner != owner()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            _("One of them"),
            list(others),
            format_func=others.get,
            index=None,
            placeholder=_("who"),
            key="who",
            width=160,
        )
        st.button(
            _("Stop their runs"),
            key="stop-theirs",
            icon=":material/stop:",
            disabled=chosen is None,
            on_click=stop_of,
            args=(chosen,),
        )
        st.button(
            _("Shut out"),
            key="shut-out",
            icon=":material/person_off:",
            disabled=chosen is None,
            on_click=change,
            args=(shut_out, chosen),
            help=_("Closes the door; this browser needs the code to come back."),
        )


def shut_out(who: str) -> None:
    if visitors().code is None:
        visitors().close_door()
    visitors().shut_out(who)
    stop_of(who)
