"""What a fine-tuned model answers, drawn: in words, then as a picture; for every task."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui.tasks import VIEWS
from ui.text import literal
from ui.translations import _


def headline(task: Any, answer: Mapping) -> tuple[str, float | None]:
    """What was answered, in a few words (plain text), and its probability or score.

    Of several labels the probability is that of the likeliest, of tags that of the least sure one. Without an answer
    (see `minibert.finetune.evaluation.answered`) the reason, and None.
    """
    if "error" in answer:
        return str(answer["error"]), None
    return VIEWS[task.name].headline(answer)


def show_answer(task: Any, given: Any, answer: Mapping, key: str) -> None:
    """Draw a Predictor's answer to `given`: in words, then in the text or as a figure."""
    if "error" in answer:
        st.warning(literal(answer["error"]), icon=":material/error:")
        return
    VIEWS[task.name].show_answer(given, answer, key)
    if beside := answer.get("metadata"):
        unseen = _("nothing that training has seen")
        listed = ", ".join(f"{literal(name)} = {literal(value or unseen)}" for name, value in beside.items())
        st.caption(_("Read beside the text: {listed}.").format(listed=listed))
