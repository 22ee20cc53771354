"""Before release: the service's limits, checks and logs."""

from dataclasses import asdict

import streamlit as st

from sections.service.subject import Served
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, served: Served) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        lesson.show("Limits and health", level=3)
        _limits()
    with right:
        lesson.show("Before it goes out", level=3)
    lesson.show("What to log", level=3)


def _limits() -> None:
    from minibert.service.server import Limits

    limits = Limits()
    options = {
        "inputs": (_("inputs of a request"), "--max-inputs"),
        "characters": (_("characters of a text"), "--max-characters"),
        "body": (_("bytes of a request"), "--max-body"),
        "queue": (_("inputs that may wait"), "--queue"),
        "batch": (_("inputs the model answers at once"), "--batch-size"),
        "window": (_("milliseconds a batch waits for more"), "--window"),
    }
    values = asdict(limits) | {"window": 1000 * limits.window}
    rows = [
        {_("limit"): words, _("now"): f"{values[key]:,.12g}", _("option of serve"): option}
        for key, (words, option) in options.items()
    ]
    st.table(rows)
