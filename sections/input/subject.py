"""What the whole page is about: one or two sentences, and the chosen model."""

from dataclasses import dataclass

import streamlit as st

from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_widgets import WELL_READ, model_choice
from ui.page import with_drawer
from ui.state import follow_link, set_url, url_text
from ui.translations import _

MAX_CHARS = 2_000
COLUMNS = 48  # most tokens drawn


@dataclass(frozen=True)
class Inputs:
    """model: its name · first, second: the sentences; second is None for a single one."""

    model: str
    first: str
    second: str | None


def read(lesson: Lesson) -> Inputs:
    """Both sentences side by side; examples, model and number of sentences in a drawer."""
    fields, side = with_drawer(holds=("pair",))
    left, right = fields.columns(2, gap="small")
    with side:
        examples_in = st.container()
        model = model_choice(default=WELL_READ)
        pair = st.toggle(_("A second sentence"), value=True, key="pair", bind="query-params")
    with left:
        examples = lesson.examples_for(model)
        first = sentence_input(
            "a", examples, label=_("First sentence"), max_chars=MAX_CHARS, travels=True, examples_in=examples_in
        )
    with right:
        second = _second() if pair else None  # emptied, there is none
    warn_unread_text(model, first, second)
    return Inputs(model, first, second)


def _second() -> str | None:
    start = _("The fields were under water.")
    if follow_link("b") or "b" not in st.session_state:
        st.session_state["b"] = url_text("b", start)
    text = st.text_input(_("Second sentence"), key="b")
    set_url("b", text, default=start)
    return text[:MAX_CHARS] if text.strip() else None
