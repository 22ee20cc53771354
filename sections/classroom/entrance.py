"""The teacher's key, and the door for newcomers."""

import streamlit as st

from ui.room.entrance import change, give_key, leave, say_too_many, visitors
from ui.room.visitors import TooManyTries
from ui.translations import _


def show_key() -> None:
    """A field for the key. Without the key the page reveals nothing about the room."""
    st.markdown(_("For the teacher. The key was printed where the server was started."))
    with st.form("key", border=False, width=420):
        entered = st.text_input(_("Key"), type="password", key="teacher-key", max_chars=100, autocomplete="off")
        tried = st.form_submit_button(_("Open"), type="primary", icon=":material/key:")
    if tried and entered.strip():
        try:
            if give_key(entered):
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


def show_door() -> None:
    code = visitors().code
    st.subheader(_("The door is closed") if code else _("The door is open"), anchor=False)
    if code:
        st.markdown(_("Who is in stays in. Newcomers need this code:"))
        st.html(f'<p class="mb-room-code">{code}</p>')
        with st.container(horizontal=True):
            st.button(
                _("Open the door"),
                key="door-open",
                icon=":material/door_open:",
                on_click=change,
                args=(visitors().open_door,),
            )
            st.button(
                _("Another code"),
                key="door-again",
                icon=":material/refresh:",
                on_click=change,
                args=(visitors().close_door,),
            )
    else:
        st.markdown(_("Whoever has the address is in."))
        st.button(
            _("Close the door"),
            key="door-close",
            icon=":material/door_front:",
            on_click=change,
            args=(visitors().close_door,),
            help=_(
                "Those who are in stay in. Newcomers, and anyone who clears their cookies, need a code that you show "
                "them."
            ),
        )
