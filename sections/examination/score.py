"""Handing in, the points, and the score sheet to take home."""

import sqlite3

import pandas as pd
import streamlit as st

from examination.kinds import mark
from examination.sheet import SheetSection, SheetSettings, totals
from sections.examination.answers import (
    answer_to,
    given,
    hand_in,
    handed_in,
    keep_name,
    kept_name,
    note_given,
    take_back,
)
from sections.examination.score_sheet import SubmittedSheet, score_html, score_rows
from ui.lesson import Lesson
from ui.room.sheets import Sheets
from ui.room.store import room
from ui.translations import _, pgettext
from ui.visitor import owner


def show(lesson: Lesson, sections: tuple[SheetSection, ...], settings: SheetSettings) -> None:
    tasks = [task for section in sections for task in section.tasks]
    answers = {task.id: answer_to(settings.seed, task) for task in tasks}
    marks = {task.id: mark(task, answers[task.id]) for task in tasks}
    if "name" not in st.session_state:
        st.session_state["name"] = kept_name()
    name = st.session_state["name"]
    keep_name(name)
    handed = SubmittedSheet(settings, sections, answers, marks, handed_in(settings), name)
    lesson.show("Your points")
    points, of = totals(list(marks.values()), by_student=False)
    st.metric(_("Sheet {n}, marked by the program").format(n=settings.seed), f"{points:g} / {of}")
    head = (_("Part"), pgettext("of an examination", "Points"), _("Self-marked"))
    st.table(pd.DataFrame(score_rows(handed), columns=head), width="content", hide_index=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(_("Your name, for the score sheet"), key="name", max_chars=100, width=320)
        st.download_button(
            _("Download the score sheet"),
            lambda: score_html(handed),
            file_name=f"examination-{settings.seed}.html",
            mime="text/html",
            icon=":material/download:",
            key="download",
            on_click="ignore",
            type="primary",
        )
        st.button(_("Work on it again"), key="again", icon=":material/undo:", on_click=take_back, args=(settings,))
    _give_to_teacher(handed)


def _give_to_teacher(handed: SubmittedSheet) -> None:
    """Leave the sheet where *Class* collects it, again only when name, ticks or time have changed."""
    marks = [one for mine in (False, True) for one in totals(list(handed.marks.values()), by_student=mine)]
    state = [handed.name, handed.when.timestamp(), *marks]
    if given(handed.settings) == state:
        return
    try:
        Sheets(room()).hand_in(
            owner(),
            handed.settings.key.replace("/", " ", 1),
            name=handed.name,
            when=handed.when.timestamp(),
            marks=marks,
            page=score_html(handed),
        )
    except sqlite3.Error:
        st.warning(
            _("The sheet did not reach your teacher: the disk is full. Download it, and hand over the file."),
            icon=":material/hard_drive:",
        )
        return
    if given(handed.settings) is None:  # the reader is at the foot of the page, the points at its head
        st.toast(_("Handed in. Your points stand at the top."), icon=":material/task_alt:")
    note_given(handed.settings, state)


def show_hand_in(lesson: Lesson, settings: SheetSettings) -> None:
    st.divider()
    lesson.show("Handing in", level=3)
    st.button(
        _("Hand in"), key="hand-in", type="primary", icon=":material/task_alt:", on_click=hand_in, args=(settings,)
    )
