"""Knowledge: facts attached to the words of a sentence, and an attention mask that limits their effect."""

from pathlib import Path

import streamlit as st

from sections.knowledge import claim, code, entities, graph, noise, right_name, roles, subject, tree
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("knowledge.css"))
lesson = Lesson("knowledge")
lesson.open()
inputs = subject.read(lesson)
tree.show(lesson, inputs)

parts = {
    _("Knowledge noise"): noise,
    _("The code"): code,
    _("Right name?"): right_name,
    _("Roles"): roles,
    _("Entities"): entities,
    _("The graph"): graph,
    _("The claim"): claim,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
