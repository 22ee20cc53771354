"""Class, the teacher's page: the way in, visitors, answers, progress, sheets, runs; needs the teacher's key."""

import streamlit as st

from sections.classroom import address, answers, entrance, people, progress, runs, sheets
from ui.page import style, tabs
from ui.room.entrance import is_teacher
from ui.translations import _


def show_room() -> None:
    with st.container(key="class-door"):
        left, right = st.columns(2, gap="medium")
        with left.container(border=True, height="stretch"):
            address.show()
        with right.container(border=True, height="stretch"):
            entrance.show_door()
    people.show()
    entrance.show_leave()


st.title(_("Class"), anchor=False)
if not is_teacher():
    entrance.show_key()
else:
    style(address)
    runs.show_overview()
    parts = {
        _("The room"): show_room,
        _("Answers"): answers.show,
        _("Progress"): progress.show,
        _("Examination"): sheets.show,
        _("Runs"): runs.show,
    }
    for tab, show in tabs(parts):
        with tab:
            show()
