"""Predict before reveal: the user guesses by one click, then sees the answer and how the class guessed."""

from collections.abc import Sequence

import streamlit as st

from ui.fragments import fragment
from ui.projector import projecting
from ui.room.entrance import change, is_teacher
from ui.room.store import room
from ui.state import VISIT, notes
from ui.tally import GuessTally, Wording
from ui.text import literal, one_by_one
from ui.translations import _
from ui.visitor import owner

_REFRESH = 2.0  # seconds between updates of the guesses, on a projector or while waiting for the answer


def tally() -> GuessTally:
    """The tally of the class."""
    return GuessTally(room())


def may_show(key: str, about: str = "") -> bool:
    """Whether the answer may be shown above the question, too."""
    visit, shown, guesses = st.session_state.get(VISIT, 0), notes("shown"), _own_guesses(key)
    if shown.get(key, (None,))[0] != visit:
        shown[key] = (visit, bool(guesses))
    if about not in guesses:
        return shown[key][1]
    return not tally().held(f"{key}\n{about}") or (projecting() and is_teacher())


def predict(key: str, question: str, options: Sequence[str], right: int, *, about: str = "") -> bool:
    """Ask before the answer shows; returns whether it may be shown now.

    options: at least two labels (else ValueError) · right: index of the correct one · about: subject of the question,
    such as sentence and model; guesses are counted per subject, but a user who has guessed once, today or before, is
    not made to guess again for another. A link asks, too. "Show it" shows the answer without a guess. In projector
    mode, and on *Class*, the teacher can hold the answer back until the class has guessed.
    """
    if len(options) < 2 or not 0 <= right < len(options):
        raise ValueError(f"{len(options)} options, of which number {right} is right")
    question_id, may = f"{key}\n{about}", may_show(key, about)
    mine = _own_guesses(key).get(about)
    if mine is not None and mine >= len(options):  # a guess of an earlier visit, at options that were others
        mine = None
    again = mine is None and notes("shown")[key][1]
    with st.container(key=f"predict-{key}", border=not again, gap="xsmall"):
        if again:
            st.button(
                _("Guess first: {question}").format(question=question),
                key=f"{key}-again",
                type="tertiary",
                icon=":material/psychology:",
                on_click=_show,
                args=(key, False),
            )
            return True
        if mine is None:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(f"**{question}**&ensp;", width="content")
                for index, option in enumerate(options):
                    st.button(
                        literal(option),
                        key=f"{key}-guess-{index}",
                        on_click=_guess,
                        args=(key, about, index, Wording(question, list(options), right)),
                    )
                st.button(_("Show it"), key=f"{key}-show", type="tertiary", on_click=_show, args=(key,))
                _hold(question_id)
            return False
        _show_result(question_id, question, list(options), right, mine, not may)
        _hold(question_id)
        return may


def _own_guesses(key: str) -> dict[str, int]:
    """What this visitor has guessed: subject → index of the option. A student's guesses survive a reload; the teacher
    is asked again, before each class."""
    guesses = notes("guesses")
    if key not in guesses:
        kept = {} if is_teacher() else tally().guesses_of(owner(), key)
        guesses[key] = {about: int(guess) for about, guess in kept.items()}
    return guesses[key]


def _guess(key: str, about: str, index: int, wording: Wording) -> None:
    _own_guesses(key)[about] = index
    _show(key)
    tally().vote(f"{key}\n{about}", owner(), str(index), wording)


def _show(key: str, answer: bool = True) -> None:
    notes("shown")[key] = (st.session_state.get(VISIT, 0), answer)


def _hold(question_id: str) -> None:
    """In the teacher's projector mode: a toggle that hides the answer from those who have guessed."""
    if not (projecting() and is_teacher()):
        return
    label = f"hold-{question_id}"
    held = tally().held(question_id)
    st.session_state[label] = held
    st.toggle(
        _("Hold the answer"),
        key=label,
        on_change=change,
        args=(tally().release if held else tally().hold, question_id),
        help=_("No student sees the right answer until you release it."),
    )


def _show_result(question_id: str, question: str, options: list[str], right: int, mine: int, waiting: bool) -> None:
    """Question, guess, correct answer, guesses of the class; updated in projector mode and while the answer is held."""

    @fragment
    def once() -> None:
        _lines(question_id, question, options, right, mine, waiting)

    @st.fragment(run_every=_REFRESH)
    def again() -> None:
        if waiting and not tally().held(question_id):
            st.rerun()
        _lines(question_id, question, options, right, mine, waiting)

    (again if waiting or projecting() else once)()


def _lines(question_id: str, question: str, options: list[str], right: int, mine: int, waiting: bool) -> None:
    counts = tally().counts(question_id)
    total = counts.total()
    if waiting:
        words = _("You guessed {mine}. {n} have guessed; the answer comes when it is released.")
        st.markdown(f"**{question}** " + words.format(mine=literal(options[mine]), n=total))
        return
    verdict = _("Right: **{right}**.") if mine == right else _("You guessed {mine}; it is **{right}**.")
    words = verdict.format(mine=literal(options[mine]), right=literal(options[right]))
    room = " · ".join(
        f"{'**' if index == right else ''}{literal(option)} {counts[str(index)]}{'**' if index == right else ''}"
        for index, option in enumerate(options)
        if counts[str(index)]
    )
    if total > 1:
        words = one_by_one(words, _("The room: {room}.").format(room=room))
    st.markdown(f"**{question}** {words}")
