"""BERT and UniLM, trained now on the same tokens."""

import streamlit as st

from sections.to_write.subject import Inputs
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.train_both import ComparedModel, Quantity, train_both
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("Train both", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            probe_inputs = sentence_input(
                "cloze",
                lesson.examples_called("cloze"),
                label=_("A sentence with a [MASK], answered while they train"),
                blanks=True,
            )
        with drawer(key="both-drawer", holds=("masked",)):
            masked = st.slider(_("Tokens hidden"), 5, 50, 25, 5, format="%d %%", key="masked", bind="query-params")
    train_both(
        "to_write",
        [ComparedModel("BERT"), ComparedModel("UniLM", "unilm")],
        [
            Quantity(_("Determined words ranked first, read both ways"), marks="determined", percent=True),
            Quantity(_("MLM loss (of UniLM: under all four masks)"), line="mlm_loss"),
        ],
        probe_inputs,
        masked=int(masked),
    )
    lesson.show("How to read the curves", title=False)
