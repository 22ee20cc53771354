"""ELECTRA: a small generator replaces tokens; a discriminator predicts for every token whether it was replaced."""

from pathlib import Path

import streamlit as st

from sections.electra import after, asked, both, claim, code, generator, side_by_side, subject
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("electra.css"))
lesson = Lesson("electra")
lesson.open()
inputs = subject.read(lesson)
side_by_side.show(inputs)

parts = {
    _("What is asked"): asked,
    _("The diff"): code,
    _("Train both"): both,
    _("The claim"): claim,
    _("The generator’s size"): generator,
    _("What became of it"): after,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
