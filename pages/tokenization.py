"""Tokenization: from any text to ids, with every step and every WordPiece try visible."""

import streamlit as st

from plots.tokenization import STYLE
from sections.tokenization import compare, everywhere, learn, steps, subject, window
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("tokenization")
st.html(STYLE)
lesson.open()
inputs = subject.read(lesson)
parts = {
    _("WordPiece"): window,
    _("Step by step"): steps,
    _("Learn a vocabulary"): learn,
    _("Words or characters?"): compare,
    _("Other vocabularies"): everywhere,
}
for tab, part in tabs(parts) if inputs else ():
    with tab:
        part.show(lesson, inputs)
lesson.close()
