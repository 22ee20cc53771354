"""The teacher's key: the form to enter it, and the button to give it back."""

import streamlit as st

from ui.room.entrance import give_key, leave, say_too_many
from ui.room.visitors import TooManyTries
from ui.translations import _


def show() -> None:
    """A field for the key. Without the key the page reveals nothing about the room."""
    st.markdown(_("For the teacher. The key was printed where the server was started."))
    with st.form("key", border=False, width=420):
        given = st.text_input(_("Key"), type="password", key="teacher-key", max_chars=100, autocomplete="off")
        tried = st.form_submit_button(_("Open"), type="primary", icon=":material/key:")
    if tried and given.strip():
        try:
            if give_key(given):
                st.rerun()
            st.error(_("That is not the key."), icon=":material/key_off:")
        except TooManyTries:
            say_too_many()


def show_leave() -> None:
    st.button(
        _("Give the key back"),
        key="leave",
        icon=":material/logout:",
        on_click=leave,
        help=_("This browser forgets that it is the teacher’s. The key opens the page again."),
    )
