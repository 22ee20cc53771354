"""BERT and a relative with another masking, trained live on the same tokens."""

import streamlit as st

from sections.what_to_hide.subject import Inputs
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.train_both import STEPS, ComparedModel, Quantity, train_both
from ui.translations import _


def sides() -> dict[str, ComparedModel]:
    """The models to train beside BERT. Each of ERNIE's three stages gets a third of the steps chosen below."""
    steps = st.session_state.get("both-steps", STEPS)
    stages = {"second": None, "phrases_from": steps // 3, "entities_from": 2 * steps // 3}
    return {
        "spanbert": ComparedModel("SpanBERT", "spanbert"),
        "spans": ComparedModel(_("spans, no boundary loss"), "spanbert", {"boundary": False}),
        "macbert": ComparedModel("MacBERT", "macbert", {"second": None}),
        "ngrams": ComparedModel(_("n-grams, with [MASK]"), "macbert", {"second": None, "similar": False}),
        "ernie": ComparedModel("ERNIE", "ernie", stages),
        "roberta": ComparedModel("RoBERTa", "roberta"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("Train both", title=False)
    offered = sides()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            probe_inputs = sentence_input(
                "cloze",
                lesson.examples_called("cloze"),
                label=_("A sentence with a [MASK], answered while they train"),
                blanks=True,
            )
        with drawer(key="both-drawer", holds=("masked",)):
            name = choice("side", _("Beside BERT"), {key: side.title for key, side in offered.items()}, wrap=True)
            masked = st.slider(_("Tokens hidden"), 5, 50, 15, 5, format="%d %%", key="masked", bind="query-params")
    side, pairs = offered[name], name == "roberta"
    quantities = [
        Quantity(_("Three words hidden in a row: accuracy"), marks="span", percent=True),
        Quantity(_("One word hidden: accuracy"), marks="determined", percent=True),
        Quantity(_("A wrong word, nothing hidden: accuracy"), marks="corrected", percent=True),
        Quantity(_("MLM loss"), line="mlm_loss"),
    ]
    if name == "spanbert":
        quantities.insert(1, Quantity(_("Three words, by their boundaries alone"), marks="span_boundary", percent=True))
    train_both(
        "what_to_hide",
        [ComparedModel("BERT"), side],
        quantities,
        probe_inputs,
        masked=int(masked),
        pairs=pairs,
        spans=True,
    )
    lesson.show("How to read the curves", title=False)
