"""Shows the prediction of a fine-tuned model: in words, then as a picture; for every task."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui.tasks import VIEWS
from ui.text import literal
from ui.translations import _


def headline(task: Any, answer: Mapping) -> tuple[str, float | None]:
    """The prediction in a few words (plain text), and its probability or score.

    For several labels: the probability of the likeliest; for tags: that of the least certain tag. If there is no
    prediction (see `minibert.finetune.evaluation.predict_watched`): the error message, and None.
    """
    if "error" in answer:
        return str(answer["error"]), None
    return VIEWS[task.name].headline(answer)


def show_answer(task: Any, given: Any, answer: Mapping, key: str) -> None:
    """Draw a Predictor's prediction for the input `given`: in words, then in the text or as a figure."""
    if "error" in answer:
        st.warning(literal(answer["error"]), icon=":material/error:")
        return
    VIEWS[task.name].show_answer(given, answer, key)
    if beside := answer.get("metadata"):
        unseen = _("nothing that training has seen")
        listed = ", ".join(f"{literal(name)} = {literal(value or unseen)}" for name, value in beside.items())
        st.caption(_("Read beside the text: {listed}.").format(listed=listed))
