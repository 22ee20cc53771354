"""What all parts of the lesson look at: the class's sentence, and the BERT that processes it."""

from dataclasses import dataclass

import streamlit as st

from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_widgets import WELL_READ, model_choice
from ui.page import with_drawer
from ui.translations import _

MAX_CHARS = 300  # characters of a sentence
DRAWN = 16  # tokens drawn, with [CLS]


@dataclass(frozen=True)
class Inputs:
    """What is on the page. model: the name of a BERT; None where none reads."""

    text: str
    model: str | None


def read(lesson: Lesson, of_bert: bool) -> Inputs:
    """The class's sentence; examples in the drawer beside it, and the model if the open part reads with it."""
    sentence, settings = with_drawer()
    with settings:
        examples_in = st.container()
        model = model_choice(fill=True, default=WELL_READ, drawn=of_bert)
    with sentence:
        text = sentence_input(
            "sentence",
            lesson.examples_for(model),
            max_chars=MAX_CHARS,
            default=lesson.examples[0],
            travels=True,
            examples_in=examples_in,
        )
    if of_bert:
        warn_unread_text(model, text)
    return Inputs(text, model if of_bert else None)


def finding(text: str) -> None:
    """The title of a figure: its finding. text: Markdown."""
    st.markdown(f"**{text}**")


def tell(*numbers: tuple[str, str]) -> None:
    """Numbers with their names, in a row."""
    with st.container(horizontal=True, gap="medium"):
        for name, value in numbers:
            st.metric(name, value, width="content")


def two_words_needed() -> None:
    st.info(_("Type at least two words above."), icon=":material/edit:")
