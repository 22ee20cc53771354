"""Answers held back until the room has guessed."""

import streamlit as st

from ui.predict import tally
from ui.room.entrance import change
from ui.text import literal, shorten
from ui.translations import _, ngettext

MOST, LONGEST = 6, 70  # questions listed; characters of one


def show() -> None:
    st.subheader(_("Answers"), anchor=False)
    held = tally().all_held()
    st.session_state["hold-all"] = held
    st.toggle(
        _("Hold every answer"),
        key="hold-all",
        on_change=change,
        args=(tally().release_all if held else tally().hold_all,),
        help=_("Whoever guesses is told what is right when you release it, ten minutes later at the latest."),
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
