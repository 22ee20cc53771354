"""Tokenization: from any text to ids, every step and every try in sight."""

import streamlit as st

from plots.tokenization import STYLE
from sections.tokenization import compare, everywhere, learn, links, steps, subject, window
from ui.lesson import Lesson
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
for tab, part in links.opened(parts) if seen else ():
    with tab:
        part.show(lesson, seen)
lesson.close()
