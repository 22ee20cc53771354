"""Tokenization: from any text to ids, with every step and every WordPiece try visible."""

import streamlit as st

from plots.tokenization import STYLE
from sections.tokenization import compare, everywhere, learn, steps, subject, window
from ui.lesson import Lesson
from ui.parts import opened
from ui.translations import _

lesson = Lesson("tokenization")
st.html(STYLE)
lesson.open()
seen = subject.read(lesson)
parts = {
    _("WordPiece"): window,
    _("Step by step"): steps,
    _("Learn a vocabulary"): learn,
    _("Words or characters?"): compare,
    _("Other vocabularies"): everywhere,
}
about = {  # title → parameters of older links that imply this part
    _("Step by step"): ("step", "token"),
    _("Learn a vocabulary"): ("merge", "corpus", "scoring", "own", "learn-lower"),
    _("Words or characters?"): ("compare",),
}
for tab, part in opened(parts, about) if seen else ():
    with tab:
        part.show(lesson, seen)
lesson.close()
