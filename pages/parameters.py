"""Parameters: a BERT's weights, FLOPs and memory, computed from its config alone."""

import streamlit as st

from sections.parameters import arithmetic, exact, family, growing, memory, parts, sizes
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("parameters")
lesson.open()
inputs = sizes.read()
views = {
    _("Parameters"): parts,
    _("110 million"): exact,
    _("Arithmetic"): arithmetic,
    _("Memory"): memory,
    _("How it grows"): growing,
    _("The family"): family,
}
with st.container(key="part"):
    for tab, view in tabs(views, key="view") if inputs else ():
        with tab:
            view.show(lesson, inputs)
lesson.close()
