"""Masking: predictions for masked words, the choice of masked tokens, and why not all of them become [MASK]."""

from pathlib import Path

import streamlit as st

from sections.masking import epochs, falling, fill, paper, subject, three_readings, two_sentences
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("masking.css"))
lesson = Lesson("masking")
lesson.open()
inputs = subject.read(lesson)
fill.show(lesson, inputs)

parts = {
    _("What falls"): falling,
    _("Epoch after epoch"): epochs,
    _("One blank, two sentences"): two_sentences,
    _("Why not always [MASK]"): three_readings,
    _("What the paper measured"): paper,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
