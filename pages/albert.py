"""ALBERT: factorized embeddings, one block shared by all layers, and sentence order prediction."""

from pathlib import Path

import streamlit as st

from sections.albert import after, both, claim, code, order, repetitions, seconds, subject, weights
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("albert.css"))
lesson = Lesson("albert")
lesson.open()
inputs = subject.read(lesson)
repetitions.show(inputs)

parts = {
    _("The weights"): weights,
    _("The diff"): code,
    _("Train both"): both,
    _("Order or topic"): order,
    _("The claim"): claim,
    _("Seconds"): seconds,
    _("What became of it"): after,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
