"""What the page is about: the sentence with a blank, the model, the names that several parts use."""

from dataclasses import dataclass

import streamlit as st

from ui.inputs import sentence_input, typed
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_widgets import WELL_READ, model_choice, warn_untrained
from ui.page import drawer
from ui.state import follow_link, hold_absent, set_url, url_text
from ui.translations import _, pgettext

MAX_CHARS = 1_000


@dataclass(frozen=True)
class Inputs:
    """text: with a blank · word: the right word for the blank."""

    model: str
    text: str
    word: str


def read(lesson: Lesson, of_a_blank: bool) -> Inputs:
    """One row: the sentence with a blank, its right word, and the model in the drawer. of_a_blank: whether the open
    part reads the sentence; for the others the model is all."""
    hold_absent(not of_a_blank, "cloze", "right")
    if not of_a_blank:
        with drawer():
            model = model_choice(default=WELL_READ)
        warn_untrained(model)
        return Inputs(model, "", "")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="subject"):
        first, second, last = st.container(), st.container(width=190), st.container(width="content")
        with last, drawer(_("Examples")):
            examples_in = st.container()
            model = model_choice(default=WELL_READ)
        words = answers(lesson, model)
        with first:
            text = sentence_input(
                "cloze",
                list(words),
                label=_("Sentence with a [MASK]"),
                max_chars=MAX_CHARS,
                travels=_travels(),
                examples_in=examples_in,
                blanks=True,
            )
        with second:
            word = _right_word(words, text)
    warn_untrained(model)
    warn_unread_text(model, text)
    return Inputs(model, text, word)


def _travels() -> bool:
    """Whether to accept a sentence from another page: only with a blank."""
    return not typed() or "[MASK]" in typed()


def answers(lesson: Lesson, model: str) -> dict[str, str]:
    """Example → its right word, which follows it in examples.toml."""
    return dict(zip(*(iter(lesson.examples_for(model)),) * 2, strict=True))


def _right_word(answers: dict[str, str], text: str) -> str:
    """The right word for the blank: the example's, until the user types another."""
    state = st.session_state
    if follow_link("right") or "right" not in state:
        state["right"], state["right-of"] = url_text("right", answers.get(text, "")), text
    elif state.get("right-of") != text and text in answers:
        state["right"] = answers[text]
    state["right-of"] = text
    word = st.text_input(_("The right word"), key="right", max_chars=60)
    set_url("right", word, default=answers.get(text, ""))
    return word


def task_names() -> dict[str, str]:
    return {
        "length": _("sentence length"),
        "pos": _("part of speech"),
        "chunk": _("chunk"),
        "number": pgettext("of grammar", "number"),
        "tense": _("tense"),
        "relation": _("dependency"),
        "order": _("word order"),
        "coreference": _("coreference"),
        "names": _("kind of name"),
        "topic": _("topic"),
        "segmentation": _("word boundaries"),
    }


def task_name(name: str) -> str:
    return task_names().get(name, name)


def kind_names() -> dict[str, str]:
    return {"surface": _("surface"), "syntax": _("syntax"), "meaning": _("meaning")}


def layer_names(count: int) -> list[str]:
    return [_("embeddings"), *(str(number) for number in range(1, count))]
