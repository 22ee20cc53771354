"""The door: open, or closed with a code for newcomers."""

import streamlit as st

from ui.room.entrance import change, visitors
from ui.translations import _


def show() -> None:
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
            help=_("Who is in stays in. Newcomers, and whoever clears their cookies, need a code that you show them."),
        )
