"""Knowledge: facts hung on the words of a sentence, and a mask that keeps them in their place."""

from pathlib import Path

import streamlit as st

from sections.knowledge import code, noise, others, subject, tree
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("knowledge.css"))
lesson = Lesson("knowledge")
lesson.open()
seen = subject.read(lesson)
tree.show(lesson, seen)

parts = {
    _("Knowledge noise"): noise,
    _("The code"): code,
    _("Three other ways"): others,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, seen)
lesson.close()
