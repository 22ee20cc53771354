"""The user's sentence, and the shipped DIET that answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from minibert.folders import CHECKPOINTS
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.page import with_drawer
from ui.translations import _

if TYPE_CHECKING:
    from minibert.diet.predictor import DietPredictor

MODEL, ENCODER = "diet-intents", "mini-en"  # ENCODER: of the frozen dense features
MAX_CHARS = 300
PREFIX = "dialogue"  # of the `kind` of this page's runs


@dataclass(frozen=True)
class Inputs:
    """text: the user's sentence · answers: whether it has a word."""

    text: str

    @property
    def answers(self) -> bool:
        return any(map(str.isalnum, self.text))


def read(lesson: Lesson) -> Inputs:
    left, examples = with_drawer(key="dialogue-drawer")
    with left:
        text = sentence_input(
            "text",
            lesson.examples_called("en"),
            max_chars=MAX_CHARS,
            examples_in=examples,
            live=True,
            label=_("Say it to the assistant, in English: it answers as you type"),
        )
    warn_unread_text(ENCODER, text)
    return Inputs(text.strip())


@st.cache_resource(show_spinner=False)
def predictor() -> "DietPredictor":
    """Shared by all sessions, never changed."""
    from minibert.diet.predictor import DietPredictor

    return DietPredictor.from_directory(CHECKPOINTS / MODEL)


@st.cache_data(show_spinner=False, max_entries=256)
def answer_to(text: str) -> dict:
    return predictor().predict([text])[0]
