"""What this class has trained, and how a teacher and a student use the classroom."""

import streamlit as st

from ui.lesson import Lesson
from ui.runs import show_runs


def show_trained(lesson: Lesson, inputs: None) -> None:
    lesson.show("What this class has trained", title=False)
    show_runs()


def show_use(lesson: Lesson, inputs: None) -> None:
    lesson.show("How to use this classroom", title=False)
    for column, heading in zip(st.columns(2), ("For the teacher", "For the student"), strict=True):
        with column.container(border=True, height="stretch"):
            lesson.show(heading, level=3)
