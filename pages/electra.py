"""ELECTRA: a small generator replaces tokens; a discriminator predicts for every token whether it was replaced."""

from pathlib import Path

import streamlit as st

from sections.electra import asked, both, claim, generator, side_by_side, subject
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("electra.css"))
lesson = Lesson("electra")
lesson.open()
inputs = subject.read(lesson)
side_by_side.show(inputs)

parts = {
    _("What is asked"): asked.show,
    _("The diff"): claim.show_diff_to_bert,
    _("Train both"): both.show,
    _("The claim"): claim.show,
    _("The generator’s size"): generator.show,
    _("What became of it"): claim.show_published,
}
for tab, part in tabs(parts):
    with tab:
        part(lesson, inputs)
lesson.close()
