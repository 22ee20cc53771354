"""Feedback to an answer: its points, what is wrong and why, the right answer, and a link to the lesson."""

from __future__ import annotations

import streamlit as st

from examination.choose import ChooseTask
from examination.compute import ComputeTask
from examination.count import CountTask
from examination.input_rows import InputTask
from examination.mistake import MistakeTask
from examination.order import OrderTask
from examination.predict import PredictTask
from examination.task import ExamTask, Mark, points_text
from sections.examination.run_widgets import show_outputs
from ui.lesson import TEXT_WIDTH
from ui.navigation import find_page, link_to
from ui.translations import _


def show_mark(task: ExamTask, mark: Mark) -> None:
    """Show the mark below the answer. The link opens the lesson's page at the place named by the bank."""
    points = _("{points} of {of} points").format(points=points_text(mark.points), of=mark.of)
    if mark.by_student:
        st.info(f"**{points}**, {_('self-marked')}", icon=":material/edit_note:", width=TEXT_WIDTH)
    else:
        said = [line for line in mark.comments if line]
        text = f"**{points}.** " + ("\n\n".join(said) if len(said) < 2 else "\n\n" + "\n".join(f"- {s}" for s in said))
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
        values = [f"{field.label}: **{value}**" for field, value in zip(task.fields, task.right, strict=True)]
        st.markdown(_("Right: {answer}").format(answer=" · ".join(values)))
    elif isinstance(task, CountTask):
        st.markdown(_("Right: {answer}").format(answer=f"**{task.right}**"))
        st.markdown(task.formula.replace("*", "·"), width=TEXT_WIDTH)
    elif isinstance(task, OrderTask):
        steps = "\n".join(f"{place}. {step}" for place, step in enumerate(task.steps, 1))
        st.markdown(f"{_('The right order:')}\n\n{steps}", width=TEXT_WIDTH)
    elif isinstance(task, InputTask):
        rows = "\n".join(f"{task.titles[name]}: {text}" for name, text in task.right.items())
        st.markdown(_("Right:"))
        st.code(rows, None, wrap_lines=True)
