"""The user's documents, and the settings for cutting pairs from them."""

import streamlit as st

from sections.next_sentence.subject import bundled
from ui.inputs import seed_input, sentence_input
from ui.lesson import Lesson
from ui.translations import _

SHOWN_DOCUMENTS = {"en": (2, 4, 12, 21), "zh": (0, 3, 5, 7)}  # default documents, indices into topics.txt
LENGTH, SHORT, SEED = 48, 10, 1
MAX_CHARS = 8_000


def read(lesson: Lesson, language: str) -> tuple[str, int, int, int]:
    """The text; maximum input length in tokens, chance of a shorter target in percent, seed."""
    documents, _topics = bundled(language)
    start = "\n\n".join("\n".join(documents[i]) for i in SHOWN_DOCUMENTS[language])
    text = sentence_input(
        "documents",
        [start, *(example.strip() for example in lesson.examples_called(language))],
        label=_("Documents, with a blank line between them"),
        max_chars=MAX_CHARS,
        multiline=True,
    )
    return text, *_settings()


def _settings() -> tuple[int, int, int]:
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        with left:
            length = st.slider(
                _("Longest input, with [CLS] and [SEP]"), 16, 128, LENGTH, 4, key="length", bind="query-params"
            )
        with right:
            short = st.slider(
                _("Chance of a shorter target"), 0, 100, SHORT, key="short", format="%d %%", bind="query-params"
            )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            seed = seed_input(SEED)
    return length, short, seed
