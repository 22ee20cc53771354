"""The questions of the sheet, each with its widgets and, once marked, its feedback."""

from pathlib import Path

import streamlit as st

from examination.kinds import mark, titles
from examination.sheet import SheetSection, SheetSettings
from sections.examination.answers import answer_to, answered, check, handed_in, is_checked
from sections.examination.feedback import show_mark
from sections.examination.widgets import answer_with
from ui.lesson import TEXT_WIDTH
from ui.translations import _, ngettext


def _task(section: SheetSection, number: int, settings: SheetSettings, practice: bool) -> None:
    task, seed = section.tasks[number], settings.seed
    frozen = handed_in(settings) is not None and not practice
    with st.container(border=True, key=f"question-{section.number}-{number + 1}"):
        of = ngettext("{n} point", "{n} points", task.question.points).format(n=task.question.points)
        st.markdown(f"#### {section.number}.{number + 1} {titles()[task.question.kind]} · {of}")
        st.markdown(task.text, width=TEXT_WIDTH)
        answer_with(task, seed, marked=frozen or (practice and is_checked(seed, task)), frozen=frozen)
        answered(seed, task)
        if practice:
            st.button(
                _("Check"), key=f"check-{seed}-{task.id}", icon=":material/done_all:", on_click=check, args=(seed, task)
            )
        if frozen or (practice and is_checked(seed, task)):
            show_mark(task, mark(task, answer_to(seed, task)))


def show(sections: tuple[SheetSection, ...], settings: SheetSettings, practice: bool) -> None:
    """All questions, each in its own frame. practice: every question has its own *Check*."""
    st.html(Path(__file__).with_name("examination.css"))
    # Once handed in, a tick changes the sum at the top: then the whole page must rerun.
    draw = _task if handed_in(settings) and not practice else st.fragment(_task)
    for section in sections:
        st.markdown(f"## {section.number} {section.part.title}")
        for number in range(len(section.tasks)):
            draw(section, number, settings, practice)
