"""BERT and ALBERT, trained now on the same tokens."""

import streamlit as st

from sections.albert.subject import Subject
from sections.albert.weights import shared_words
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.train_both import Quantity, Side, train_both
from ui.translations import _

WIDTHS = (8, 16, 32, 64, 128)
LAYERS = (2, 4, 6)


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("Train both", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            watch = sentence_input(
                "cloze", lesson.examples_called("cloze"), label=_("A sentence with a [MASK], answered while they train")
            )
        with drawer(key="both-drawer"):
            shared = choice("both-shared", _("Shared by ALBERT’s layers"), shared_words(), wrap=True)
            width = st.select_slider(_("E of ALBERT"), WIDTHS, value=32, key="both-E", bind="query-params")
            layers = st.select_slider(_("Layers of both"), LAYERS, value=4, key="both-L", bind="query-params")
            asked = {"no": _("nothing"), "yes": _("BERT: the next? ALBERT: in order?")}
            pairs = choice("both-pairs", _("Asked of pairs"), asked, wrap=True) == "yes"
    title = "ALBERT" if shared == "all" else _("ALBERT, shared: {what}").format(what=shared_words()[shared])
    sizes = {"num_hidden_layers": int(layers)}
    quantities = [
        Quantity(
            _("Right word chosen among its kind’s"),
            marks="chosen",
            reference=("guessable_by_kind", _("the commonest")),
            percent=True,
        ),
        Quantity(_("MLM loss"), line="mlm_loss"),
    ]
    if pairs:
        quantities += [
            Quantity(_("BERT: next sentence, right"), line="nsp_accuracy", percent=True),
            Quantity(_("ALBERT: order, right"), line="sop_accuracy", percent=True),
        ]
    train_both(
        "albert",
        [
            Side("BERT", sizes=sizes),
            Side(
                title, "albert", {} if pairs else {"second": None},
                {**sizes, "embedding_size": int(width), "shared": shared},
            ),
        ],
        quantities,
        watch,
        pairs=pairs,
    )  # fmt: skip
    lesson.show("How to read the curves", title=False)
