"""What to mask: pieces, words, phrases, names, spans, similar words; and what a model learns from each."""

from pathlib import Path

import streamlit as st

from sections.what_to_hide import after, both, claim, code, continual, hard, nsp, side_by_side, subject, three
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("what_to_hide.css"))
lesson = Lesson("what_to_hide")
lesson.open()
inputs = subject.read(lesson)
side_by_side.show(inputs)

parts = {
    _("How hard"): hard,
    _("Three words"): three,
    _("The diff"): code,
    _("Train both"): both,
    _("The claim"): claim,
    _("Next sentence?"): nsp,
    _("One task after another"): continual,
    _("What became of it"): after,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
