"""Look back: step through the saved checkpoints of a model's training."""

import streamlit as st

from sections.pretraining.texts import examples, refuse, toy_vocabulary
from sections.pretraining.then import ModelWithSteps, answers_then, embeddings_then, head_then, model_at, moments, pasts
from ui.errors import translated
from ui.inputs import distinct, sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out, warn_unread
from ui.model_cache import load
from ui.model_registry import about
from ui.state import follow_link, set_url, url_int
from ui.text import literal, visible
from ui.translations import _


@st.fragment
def show(lesson: Lesson, text) -> None:
    """Step through a model's training: cloze predictions, a head, embeddings."""
    _stepped(lesson)
    lesson.show("Look back", title=False)


def _stepped(lesson: Lesson) -> None:
    with st.spinner(_("Loading the kept steps …")):
        choices = {past.name: past for past in pasts()}
    if not choices:
        with st.container(border=True):
            st.markdown(
                _(
                    "**Nothing to look back at yet.** A run that has ended or was stopped here keeps some of its "
                    "steps; none of the shipped checkpoints here has any."
                )
            )
        return
    past = choices[choice_of_past(choices)]
    if words := about(past.directory):
        st.caption(words)
    try:
        saved_steps, tokenizer = moments(past), load(past.name).tokenizer
        model = model_at(saved_steps[-1])
    except (ValueError, OSError) as error:
        refuse(literal(translated(error)))
        return
    labels = [label for label, _path in past.steps]
    at = step_slider(past, labels)
    toy = set(tokenizer.vocab) <= set(toy_vocabulary())
    toys, others = examples(lesson)
    sentence = sentence_input(
        "sentence" if toy else "text",
        toys if toy else others,
        label=_("A sentence with a [MASK]"),
        max_chars=300,
        blanks=True,
    )
    encoding = tokenizer.encode(sentence, max_length=model.config.longest, truncation="head")
    warn_unread(encoding, past.name, sentence)
    say_left_out(len(tokenizer.encode(sentence)) - len(encoding))
    answers_then(saved_steps, tokenizer, encoding, at, labels)
    with st.grid(2, min_column_width=420, key="then") as grid:
        left, right = grid.container(key="then-left"), grid.container(key="then-right")
    with left:
        head_then(model_at(saved_steps[at]), tokenizer, encoding)
    with right:
        embeddings_then(saved_steps, tokenizer, at, labels, toy)


def choice_of_past(choices: dict[str, ModelWithSteps]) -> str:
    names = distinct({name: visible(past.title, spaces=False) for name, past in choices.items()})
    newest = next(iter(names))
    arrived = st.session_state.get("_newest-past", newest) != newest
    st.session_state["_newest-past"] = newest
    if arrived:  # a run has just ended: select it
        st.session_state["past"] = newest
    elif follow_link("past") or st.session_state.get("past") not in names:
        sentence = st.query_params.get("past")
        st.session_state["past"] = sentence if sentence in names else next(iter(names))
    name = st.selectbox(_("Model"), list(names), format_func=names.get, key="past")
    set_url("past", name, default=next(iter(names)))
    return name


def step_slider(past: ModelWithSteps, labels: list[str]) -> int:
    """The index of the chosen step, by default the last; in the link, counted from 1."""
    last = len(labels) - 1
    if follow_link("at") or st.session_state.get("at-of") != past.name:
        st.session_state["at"] = url_int("at", last + 1, 1, last + 1) - 1 if follow_or_first(past) else last
    st.session_state["at-of"] = past.name
    st.session_state["at"] = min(st.session_state.get("at", last), last)
    at = st.select_slider(_("Step"), range(last + 1), format_func=labels.__getitem__, key="at")
    set_url("at", at + 1, default=last + 1)
    return at


def follow_or_first(past: ModelWithSteps) -> bool:
    """Whether the step in the link is meant for this model: not if the user has just changed the model."""
    return st.session_state.get("at-of") in (None, past.name)
