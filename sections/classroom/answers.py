"""The guesses of the class, question by question, in words and bars; the teacher holds and releases the answers."""

import streamlit as st

from sections.classroom import histogram
from ui.predict import tally
from ui.room.entrance import change, is_teacher
from ui.text import literal, shorten
from ui.translations import _, ngettext

REFRESH, MOST, LONGEST = 3.0, 8, 70  # seconds; questions listed; characters of what one is about


def show() -> None:
    held = tally().all_held()
    st.session_state["hold-all"] = held
    st.toggle(
        _("Hold every answer"),
        key="hold-all",
        on_change=change,
        args=(tally().release_all if held else tally().hold_all,),
        help=_("Students see the right answer when you release it, ten minutes later at the latest."),
    )
    _questions()


@st.fragment(run_every=REFRESH)
def _questions() -> None:
    if not is_teacher():
        return
    latest = tally().latest(MOST)
    if not latest:
        st.markdown(_("Nobody has guessed yet. What a page asks before it shows the answer comes here, newest first."))
    for number, question in enumerate(latest):
        _question(number, question)


def _question(number: int, question: str) -> None:
    held, counts, wording = tally().held(question), tally().counts(question), tally().wording(question)
    name, _line, about = question.partition("\n")
    words = (word for word in about.split() if not word.isdecimal())  # numbers tell questions apart, not people
    about = literal(shorten(" ".join(words), LONGEST))
    guessed = ngettext("{n} guess", "{n} guesses", counts.total()).format(n=counts.total())
    key = f"hold-{number}-{question}"
    with st.container(border=True, key=f"class-question-{number}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{wording.text if wording else literal(name)}**", width="content")
            st.session_state[key] = held
            st.toggle(
                _("Hold"),
                key=key,
                disabled=tally().all_held(),
                on_change=change,
                args=(tally().release if held else tally().hold, question),
            )
        st.caption(" · ".join(filter(None, (guessed, about))))
        if wording:
            chosen = {int(guess): count for guess, count in counts.items()}
            histogram.show([literal(option) for option in wording.options], chosen, None if held else wording.right)
