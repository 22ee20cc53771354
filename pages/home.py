"""Home: one sentence and three models, the steps from text to prediction, attention masks, what this class trained."""

import streamlit as st

from sections.home import does_it_understand, first_minute, road, who_may_look_where
from ui.lesson import Lesson
from ui.runs import show_runs

lesson = Lesson("home")
lesson.open()
first_minute.show()
lesson.show("What reading changes")
does_it_understand.show(lesson)
lesson.show("The road")
road.show()
lesson.show("Who may look where")
who_may_look_where.show(lesson)
lesson.show("What the pictures say", title=False)
lesson.show("Whose idea it was", level=3)
lesson.show("What this class has trained")
show_runs()
lesson.show("How to use this classroom")
for column, heading in zip(st.columns(2), ("For the teacher", "For the student"), strict=True):
    with column.container(border=True, height="stretch"):
        lesson.show(heading, level=3)
lesson.close()
