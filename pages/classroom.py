"""Class, the teacher's page: visitors, runs, entrance code, and held-back answers; needs the teacher's key."""

import streamlit as st

from sections.classroom import entrance, people, runs
from ui.room.entrance import is_teacher
from ui.translations import _

st.title(_("Class"), anchor=False)
if not is_teacher():
    entrance.show_key()
else:
    runs.show_overview()
    with st.container(key="class-answers-and-door"):
        left, right = st.columns(2, gap="medium")
        with left.container(border=True, height="stretch"):
            entrance.show_door()
        with right.container(border=True, height="stretch"):
            entrance.show_answers()
    runs.show()
    people.show()
    entrance.show_leave()
