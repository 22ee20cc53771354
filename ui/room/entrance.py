"""Access checks of a page: whether its visitor may enter the room, and whether they are the teacher."""

import sqlite3
from collections.abc import Callable

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.navigation import link_to
from ui.room import presence
from ui.room.key import digest, is_key
from ui.room.store import room
from ui.room.visitors import TooManyTries, Visitors
from ui.translations import _
from ui.visitor import address, owner

TEACHERS = "classroom"  # the page that the teacher's key unlocks


def visitors() -> Visitors:
    return Visitors(room())


def is_teacher() -> bool:
    """Whether the current teacher's key was entered in this browser."""
    try:
        return visitors().is_teacher(owner(), digest())
    except sqlite3.Error:  # see `enter`
        return False


def change(action: Callable, *values) -> None:
    """Callback of the teacher's buttons: call `action`; if the disk is full, say that nothing was changed."""
    try:
        action(*values)
    except sqlite3.Error:
        st.toast(_("Nothing was changed: the disk is full."), icon=":material/hard_drive:")


def enter(page: str) -> None:
    """Record that this browser is on `page`; while the door is closed, ask newcomers for the code and stop the page.

    The teacher's page is never blocked here: it checks the teacher's key itself.
    """
    try:
        inside = is_teacher() if page == TEACHERS else visitors().may_enter(owner())
    except sqlite3.Error:  # full disk, or database locked by another server: let everyone in
        inside = True
    if context := get_script_run_ctx(suppress_warning=True):
        if inside:
            presence.record(context.session_id, owner(), address(), page)
        else:
            presence.forget(context.session_id)
    if inside or page == TEACHERS:
        return
    st.title(_("This class has closed its door"), anchor=False)
    st.markdown(
        _("If you have been here before, you are still in. Everyone else needs the code that the teacher shows.")
    )
    with st.form("door", border=False, width=360):
        typed = st.text_input(_("Room code"), key="room-code", max_chars=20)
        tried = st.form_submit_button(_("Come in"), type="primary", icon=":material/login:")
    if tried and typed.strip():
        try:
            if visitors().enter(owner(), address(), typed):
                st.rerun()
            st.error(_("That is not the code."), icon=":material/door_front:")
        except TooManyTries:
            say_too_many()
    link_to(TEACHERS, _("I am the teacher"), icon=":material/key:")
    st.stop()


def give_key(typed: str) -> bool:
    """Make this browser the teacher's if `typed` is the teacher's key → whether it is. Raises TooManyTries."""
    visitors().try_once("key", owner(), address())
    if is_key(typed):
        visitors().make_teacher(owner(), address(), digest())
        return True
    return False


def leave() -> None:
    """Make this browser an ordinary visitor again."""
    visitors().make_teacher(owner(), address(), None)


def say_too_many() -> None:
    st.error(_("Too many tries. Wait a minute."), icon=":material/hourglass_disabled:")
