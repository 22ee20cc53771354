"""Further options of training, and the effect of each: on one sentence, and in recorded runs."""

import streamlit as st

from sections.training_options import (
    augmentation,
    averaging,
    batches,
    bench,
    dropout,
    half_precision,
    lamb,
    length,
    metadata,
    rates,
    second_loss,
    several_texts,
    truncation,
    variants,
)
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.page import with_drawer
from ui.translations import _

lesson = Lesson("training_options")
parts = {
    "rates": (_("layer rates"), rates),
    "dropout": (_("dropout masks"), dropout),
    "mlm": (_("second loss"), second_loss),
    "classifier": (_("classifiers"), variants),
    "averaging": (_("averaging"), averaging),
    "metadata": (_("columns"), metadata),
    "length": (_("length"), length),
    "truncation": (_("truncation"), truncation),
    "texts": (_("several texts"), several_texts),
    "augmentation": (_("augmentation"), augmentation),
    "half": (_("half precision"), half_precision),
    "lamb": ("LAMB", lamb),
    "batches": (_("large batches"), batches),
}
WITHOUT_TEXT = (rates, length, half_precision, lamb, batches)


@st.fragment
def shown(part) -> None:
    text = ""
    if part not in WITHOUT_TEXT:
        field, side = with_drawer()
        with field:
            text = sentence_input(
                "text", lesson.examples, label=_("Your own sentence"), max_chars=2_000, travels=True, examples_in=side
            )
        if not text.strip():
            st.markdown(_("Write a sentence first."))
            return
        warn_unread_text(bench.model(), text)
    part.show(lesson, text)


lesson.open()
chosen = choice("option", _("Option"), {name: title for name, (title, _part) in parts.items()}, wrap=True, bare=True)
shown(parts[chosen][1])
lesson.show("Which of them helps?")
lesson.close()
