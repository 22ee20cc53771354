"""Class, the teacher's page: visitors, runs, entrance code, and held-back answers; needs the teacher's key."""

import streamlit as st

from sections.classroom import answers, door, key, overview, people, runs
from ui.room.entrance import is_teacher
from ui.translations import _

st.title(_("Class"), anchor=False)
if not is_teacher():
    key.show()
else:
    overview.show()
    with st.container(key="class-answers-and-door"):
        left, right = st.columns(2, gap="medium")
        with left.container(border=True, height="stretch"):
            door.show()
        with right.container(border=True, height="stretch"):
            answers.show()
    runs.show()
    people.show()
    key.show_leave()
