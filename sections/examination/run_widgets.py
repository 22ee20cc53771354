"""Widgets of the question kinds that run something: code with a mistake, and a prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from examination import mistake
from examination.mistake import MistakeTask
from examination.predict import SIDES, PredictTask, probabilities
from examination.predict import PredictAnswer as PredictAnswer
from sections.examination.answers import answer_to, has_run, run_model, set_answer
from ui.lesson import TEXT_WIDTH
from ui.model_cache import load
from ui.translations import _


def keep(key: str, value: Any) -> None:
    """Set a widget's initial value, unless it is already on the page."""
    if key not in st.session_state:
        st.session_state[key] = value


def radio(key: str, label: str, count: int, words: Callable[[int], str], picked: int | None, frozen: bool, **options):
    """A choice of one among `count` options, by index; nothing is selected if `picked` is None."""
    keep(key, picked)
    return st.radio(label, range(count), format_func=words, index=None, key=key, disabled=frozen, **options)


def mistake_widgets(task: MistakeTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    if task.setup:
        with st.expander(_("What runs before"), icon=":material/code:", type="compact"):
            st.code(task.setup, "python")
    st.code("\n".join(task.lines), "python", line_numbers=True)
    lines = task.candidates()
    before = answer_to(seed, task)
    picked = radio(
        key,
        _("The wrong line"),
        len(lines),
        lambda index: str(lines[index]),
        lines.index(before) if before in lines else None,
        frozen,
        horizontal=True,
    )
    set_answer(seed, task, None if picked is None else lines[picked])


def show_outputs(task: MistakeTask) -> None:
    """The outputs of the wrong and the corrected code, run now, side by side."""
    left, right = st.columns(2)
    for column, title, lines, number in (
        (left, _("As it stood"), task.lines, task.right),
        (right, _("As it should be"), task.corrected(), task.right),
    ):
        with column:
            st.markdown(f"**{title}**")
            st.code(lines[number - 1].strip(), "python", wrap_lines=True)
            for output in mistake.outputs(task, lines):
                st.code(f"{output.expression} =\n{output.text}", None, wrap_lines=True)


def predict_widgets(task: PredictTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    before = answer_to(seed, task) or PredictAnswer()
    has_output = has_run(seed, task)
    words = (_("the first is higher"), _("the second is higher"))
    picked = radio(
        f"{key}-guess",
        _("Your prediction"),
        2,
        words.__getitem__,
        SIDES.index(before.predicted) if before.predicted else None,
        frozen or has_output,
        horizontal=True,
    )
    predicted = None if picked is None else SIDES[picked]
    if not has_output:
        st.button(
            _("Let the model run"),
            key=f"{key}-run",
            icon=":material/play_arrow:",
            disabled=frozen or predicted is None,
            help=_("Predict first: after this the prediction stands."),
            on_click=run_model,
            args=(seed, task),
        )
        set_answer(seed, task, PredictAnswer(predicted) if predicted else None)
        return
    show_result(task, predicted)
    texts = [choice.text for choice in task.choices]
    explained = radio(
        key, _("What explains it?"), len(texts), texts.__getitem__, before.explanation, frozen, width=TEXT_WIDTH
    )
    set_answer(seed, task, PredictAnswer(predicted, explained))


def show_result(task: PredictTask, predicted: str | None) -> None:
    """The model's probabilities, computed now."""
    first, second = probabilities(load(task.model), task)
    with st.container(horizontal=True, gap="medium"):
        st.metric(_("the first"), share(first), width="content")
        st.metric(_("the second"), share(second), width="content")
    higher = "first" if first > second else "second"
    if predicted is not None:
        st.markdown(_("As you predicted.") if higher == predicted else _("Not as you predicted."))


def share(probability: float) -> str:
    return f"{probability:.1%}" if probability >= 0.01 else f"{probability:.2g}"
