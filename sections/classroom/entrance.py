"""The teacher's key, the door for newcomers, and answers held back until the room has guessed."""

import streamlit as st

from ui.predict import tally
from ui.room.entrance import change, give_key, leave, say_too_many, visitors
from ui.room.visitors import TooManyTries
from ui.text import literal, shorten
from ui.translations import _, ngettext


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


MOST, LONGEST = 6, 70  # questions listed; characters of one


def show_answers() -> None:
    st.subheader(_("Answers"), anchor=False)
    held = tally().all_held()
    st.session_state["hold-all"] = held
    st.toggle(
        _("Hold every answer"),
        key="hold-all",
        on_change=change,
        args=(tally().release_all if held else tally().hold_all,),
        help=_("Students see the right answer when you release it, ten minutes later at the latest."),
    )
    for number, question in enumerate(tally().latest(MOST)):
        held, count = tally().held(question), tally().counts(question).total()
        key = f"hold-{number}-{question}"
        st.session_state[key] = held
        name, _line, about = question.partition("\n")
        said = shorten(" · ".join(filter(None, (name, about.replace("\n", " ")))), LONGEST)
        guessed = ngettext("{n} guess", "{n} guesses", count).format(n=count)
        st.toggle(
            f"{literal(said)} – {guessed}",
            key=key,
            disabled=tally().all_held(),
            on_change=change,
            args=(tally().release if held else tally().hold, question),
        )
