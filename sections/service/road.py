"""The road: each step shows its input, its command, and the output."""

import streamlit as st

from sections.service import export, file, measures
from sections.service.subject import Served
from ui.lesson import Lesson
from ui.stepper import stepper
from ui.translations import _


@st.fragment
def show(lesson: Lesson, served: Served) -> None:
    """Six steps, one shown at a time."""
    lesson.show("The road", title=False)
    steps = {
        _("file"): file.show,
        _("finetune"): measures.show_finetune,
        _("evaluate"): measures.show_evaluate,
        _("predict"): measures.show_predict,
        _("export"): export.show,
        _("serve"): export.show_serve,
    }
    step = stepper("step", list(steps))
    with st.container(border=True, key="road"):
        list(steps.values())[step](served)
