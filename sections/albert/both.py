"""BERT and ALBERT, trained now on the same tokens."""

import streamlit as st

from sections.albert.subject import Inputs
from sections.albert.weights import shared_words
from ui import train_both
from ui.inputs import choice
from ui.lesson import Lesson
from ui.train_both import ComparedModel, Quantity, right_words
from ui.translations import _, pgettext

WIDTHS = (8, 16, 32, 64, 128)
LAYERS = (2, 4, 6)


def show(lesson: Lesson, inputs: Inputs) -> None:
    train_both.show(lesson, at_choice, ("both-E", "both-L"))


def at_choice() -> dict:
    shared = choice("both-shared", _("Shared by ALBERT’s layers"), shared_words(), wrap=True)
    width = st.select_slider(_("E of ALBERT"), WIDTHS, value=32, key="both-E", bind="query-params")
    layers = st.select_slider(_("Layers of both"), LAYERS, value=4, key="both-L", bind="query-params")
    questions = {"no": pgettext("a second loss", "nothing"), "yes": _("BERT: the next? ALBERT: in order?")}
    pairs = choice("both-pairs", _("Second loss, on pairs"), questions, wrap=True) == "yes"
    title = "ALBERT" if shared == "all" else _("ALBERT, shared: {what}").format(what=shared_words()[shared])
    sizes = {"num_hidden_layers": int(layers)}
    of_albert = {**sizes, "embedding_size": int(width), "shared": shared}
    quantities = [right_words(), Quantity(_("MLM loss"), line="mlm_loss")]
    if pairs:
        quantities += [
            Quantity(_("BERT: next sentence, right"), line="nsp_accuracy", percent=True),
            Quantity(_("ALBERT: order, right"), line="sop_accuracy", percent=True),
        ]
    return {
        "sides": [
            ComparedModel("BERT", sizes=sizes),
            ComparedModel(title, "albert", {} if pairs else {"second": None}, of_albert),
        ],
        "quantities": quantities,
        "pairs": pairs,
    }
