"""Handing in, the points, and the score sheet to take home."""

import pandas as pd
import streamlit as st

from examination.kinds import mark
from examination.sheet import SheetSection, SheetSettings, totals
from sections.examination.answers import answer_to, hand_in, handed_in, take_back
from sections.examination.score_sheet import SubmittedSheet, score_html, score_rows
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, sections: tuple[SheetSection, ...], settings: SheetSettings) -> None:
    tasks = [task for section in sections for task in section.tasks]
    answers = {task.id: answer_to(settings.seed, task) for task in tasks}
    marks = {task.id: mark(task, answers[task.id]) for task in tasks}
    name = st.session_state.get("name", "")
    handed = SubmittedSheet(settings, sections, answers, marks, handed_in(settings), name)
    lesson.show("Your points")
    points, of = totals(list(marks.values()), by_student=False)
    st.metric(_("Sheet {n}, marked by the program").format(n=settings.seed), f"{points:g} / {of}")
    head = (_("Part"), _("Points"), _("Self-marked"))
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


def show_hand_in(lesson: Lesson, settings: SheetSettings) -> None:
    st.divider()
    lesson.show("Handing in", level=3)
    st.button(
        _("Hand in"), key="hand-in", type="primary", icon=":material/task_alt:", on_click=hand_in, args=(settings,)
    )
