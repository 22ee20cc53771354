"""The questions of the sheet, each with its widgets and, once marked, its feedback."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from examination.choose import ChooseTask
from examination.compute import ComputeTask
from examination.count import CountTask
from examination.input_rows import InputTask
from examination.kinds import mark, titles
from examination.mistake import MistakeTask
from examination.order import OrderTask
from examination.predict import PredictTask
from examination.sheet import SheetSection, SheetSettings
from examination.task import ExamTask, Mark, points_text
from sections.examination.answers import answer_to, answered, check, handed_in, is_checked
from sections.examination.run_widgets import show_outputs
from sections.examination.widgets import answer_with
from ui.lesson import TEXT_WIDTH
from ui.navigation import find_page, link_to
from ui.translations import _, ngettext


def show_mark(task: ExamTask, mark: Mark) -> None:
    """Show the mark below the answer. The link opens the lesson's page at the place named by the bank."""
    points = _("{points} of {of} points").format(points=points_text(mark.points), of=mark.of)
    if mark.by_student:
        st.info(_("**{points}**, self-marked").format(points=points), icon=":material/edit_note:", width=TEXT_WIDTH)
    else:
        said = [line for line in mark.comments if line]
        text = f"**{points}{_('.')}** " + (
            "\n\n".join(said) if len(said) < 2 else "\n\n" + "\n".join(f"- {s}" for s in said)
        )
        if mark.right:
            st.success(text, icon=":material/check_circle:", width=TEXT_WIDTH)
        elif mark.points:
            st.warning(text, icon=":material/rule:", width=TEXT_WIDTH)
        else:
            st.error(text, icon=":material/cancel:", width=TEXT_WIDTH)
    if not mark.right:
        _show_right(task)
    if isinstance(task, MistakeTask):
        show_outputs(task)
    if task.why:
        st.markdown(task.why, width=TEXT_WIDTH)
    if not mark.right and (stop := find_page(task.question.lesson)) is not None:
        label = _("Read on: {lesson}").format(lesson=stop.title)
        link_to(task.question.lesson, label, query_params=task.question.query or None)


def _show_right(task: ExamTask) -> None:
    if isinstance(task, (ChooseTask, PredictTask)):
        right = next(choice for choice in task.choices if choice.correct)
        st.markdown(_("Right: {answer}").format(answer=f"**{right.text}** – {right.why}"), width=TEXT_WIDTH)
    elif isinstance(task, ComputeTask):
        values = [f"{field.label}{_(': ')}**{value}**" for field, value in zip(task.fields, task.right, strict=True)]
        st.markdown(_("Right: {answer}").format(answer=" · ".join(values)))
    elif isinstance(task, CountTask):
        st.markdown(_("Right: {answer}").format(answer=f"**{task.right}**"))
        st.markdown(task.formula.replace("*", "·"), width=TEXT_WIDTH)
    elif isinstance(task, OrderTask):
        steps = "\n".join(f"{place}. {step}" for place, step in enumerate(task.steps, 1))
        st.markdown(f"{_('The right order:')}\n\n{steps}", width=TEXT_WIDTH)
    elif isinstance(task, InputTask):
        rows = "\n".join(f"{task.titles[name]}{_(': ')}{text}" for name, text in task.right.items())
        st.markdown(_("Right:"))
        st.code(rows, None, wrap_lines=True)


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
