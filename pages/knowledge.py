"""Knowledge: facts attached to the words of a sentence, and an attention mask that limits their effect."""

from pathlib import Path

import streamlit as st

from sections.knowledge import claim, entities, graph, noise, right_name, roles, subject, tree
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("knowledge.css"))
lesson = Lesson("knowledge")
lesson.open()
inputs = subject.read(lesson)
tree.show(lesson, inputs)

parts = {
    _("Knowledge noise"): noise.show,
    _("The code"): claim.show_code,
    _("Right name?"): right_name.show,
    _("Roles"): roles.show,
    _("Entities"): entities.show,
    _("The graph"): graph.show,
    _("The claim"): claim.show,
}
for tab, part in tabs(parts):
    with tab:
        part(lesson, inputs)
lesson.close()
