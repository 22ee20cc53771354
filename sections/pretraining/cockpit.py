"""The button that begins a run; the first part, with its curves and predictions on the user's sentence; and what the
other parts show of a run in progress."""

import streamlit as st

from sections.pretraining.curves import answers_so_far, draw_curves, empty_stage, guessed, numbers
from sections.pretraining.settings import MAX_NAME, choose_budget, choose_settings
from sections.pretraining.texts import TrainingText, choose_data, choose_text, choose_world, examples, unknown_words
from sections.pretraining.trainings import (
    WATCHED,
    Training,
    all_trainings,
    chosen_trainings,
    default_name,
    own_trainings,
    resume,
    run_ids,
    start,
    trainings_now,
    trainings_of,
)
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.page import drawer, picture, with_drawer
from ui.runs import live, settled, show_refusal, state_rows
from ui.sticky_state import keep
from ui.text import literal
from ui.translations import _

# Kept while the user is on other pages.
KEPT = (
    "data", "world", "budget", "steps", "seconds", "size", "optimizer", "rate", "masked", "pieces", "start", "pairs",
    "nsp", "seed", "name", "cloze", "ask",
)  # fmt: skip


def title() -> str:
    """Of the part where a run is watched."""
    return _("Train one")


def show(lesson: Lesson, text: TrainingText | None) -> None:
    """The user's sentence with predictions, and the curves."""
    with picture():
        own_sentence(lesson)
        _live()
    lesson.show("Train one", title=False)


def show_running() -> None:
    """This browser's runs in progress, a line each, with buttons to stop it and to open the part that shows it."""
    going = [one for one in own_trainings() if not settled(one.runs[-1])]

    def rows(runs: list) -> None:
        state_rows([one.runs[-1] for one in trainings_of(runs)], speed, actions=_offer_to_watch)

    if going:
        live(run_ids(going), rows)


def _offer_to_watch(run) -> None:
    if st.button(_("Watch"), key=f"watch-{run.id}", icon=":material/show_chart:", on_click=_open):
        st.rerun()  # the whole page, not only the line


def _open() -> None:
    st.session_state["part"] = title()


def choose(lesson: Lesson) -> TrainingText | None:
    """The text, the budget and the button *Train*; returns the chosen text."""
    keep("pretraining", dict.fromkeys(KEPT))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="asked"):
        data = choose_data()
        budget = choose_budget()
        place = st.container(width="content")
        with drawer():
            if data == "toy":
                choose_world()
            chosen = choose_settings(data) | budget
            named = st.empty()
    text = choose_text(lesson, data, chosen["pairs"])
    name = named.text_input(
        _("Name of the run"), key="name", max_chars=MAX_NAME, placeholder=default_name(text, chosen) if text else ""
    )
    if place.button(_("Train"), type="primary", icon=":material/play_arrow:", disabled=text is None, key="train"):
        start(text, chosen, name.strip() or default_name(text, chosen))
        _open()
    show_refusal()
    return text


def _live() -> None:
    """The chosen runs, during and after training; before the first run, a shipped model."""
    everything = all_trainings()
    chosen = chosen_trainings(everything)
    revealed = guessed(next(iter(trainings_now(chosen, [])), None))

    def rows(runs: list) -> None:
        trainings = trainings_of(runs)
        state_rows([one.runs[-1] for one in trainings], speed, actions=lambda run: offer_resume(run, trainings))
        preparing(trainings)

    def draw(runs: list) -> None:
        drawn = trainings_now(chosen, runs)
        if not drawn:
            return
        left, right = st.columns([5, 3], gap="medium")
        with left:
            if revealed:
                draw_curves(drawn, short=True)
            else:
                empty_stage(drawn[0])
        with right:
            answers_so_far(drawn[0])
        if revealed:
            numbers(drawn[0])

    live(run_ids(chosen), draw, rows)
    if not any(one.runs for one in everything.values()):
        words = _("**No run yet.** Press *Train*: it begins in a few seconds. Until then you see {name}.")
        if not revealed:
            words = _("**No run yet.** Press *Train*, or answer the question above: then you see {name}.")
        st.markdown(words.format(name=_(", ").join(literal(one.name) for one in chosen) or "–"))


@st.fragment
def own_sentence(lesson: Lesson) -> None:
    """The sentence on which models in training report their predictions."""
    toy = st.session_state.get("data", "toy") == "toy"
    toys, others = examples(lesson)
    field, side = with_drawer(key="sentences")
    with field:
        text = sentence_input(
            "cloze" if toy else "ask",
            toys if toy else others,
            label=_("A sentence with a [MASK], answered while it trains"),
            max_chars=500,
            examples_in=side,
            blanks=True,
        )
    before = st.session_state.get(WATCHED)
    st.session_state[WATCHED] = text
    if "[MASK]" not in text:
        st.info(_("Write `[MASK]` where a word is to be guessed."), icon=":material/edit:")
    elif toy and (unknown := unknown_words(text)):
        words = _("The toy world has no {words}: the model reads [UNK] there.")
        st.caption(words.format(words=_(", ").join(f"“{literal(word)}”" for word in unknown[:8])))
    if text != before:
        for training in own_trainings():
            if not training.runs[-1].over:
                training.runs[-1].send([text])


def speed(step: dict) -> str:
    left = step["seconds"] * (1 / step["progress"] - 1) if step["progress"] else 0
    return _(" · step {step:,} · loss {loss:.2f} · {speed:,.0f} tokens/s · {left:.0f} s left").format(
        step=step["step"], loss=step["loss"], speed=step["tokens_per_second"], left=left
    )


def offer_resume(run, trainings: list[Training]) -> None:
    training = next(training for training in trainings if training.runs[-1] is run)
    if training.resumable:
        st.button(_("Resume"), key=f"resume-{run.id}", icon=":material/resume:", on_click=resume, args=(training,))


def preparing(trainings: list[Training]) -> None:
    """What a run is doing before its first step."""
    words = {
        "writing stories": _("writing the stories"),
        "learning a vocabulary": _("learning a vocabulary from the text"),
        "tokenizing": _("cutting the text into tokens"),
        "counting": _("counting which tokens stand near each other"),
    }
    for training in trainings:
        event = training.runs[-1].latest("preparing")
        if event and not training.latest("step") and not training.runs[-1].over:
            st.caption(f"{literal(training.name)}{_(': ')}{words.get(event['what'], literal(event['what']))} …")
