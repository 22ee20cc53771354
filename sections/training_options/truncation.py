"""Truncation: what goes when a text does not fit."""

import streamlit as st

from sections.training_options.bench import MODEL, command
from ui.lesson import Lesson
from ui.models import load
from ui.page import picture
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _

HEADING = "Truncation"
MOST_TOKENS = 120


def show(lesson: Lesson, text: str) -> None:
    """What each way of cutting leaves of the text."""
    tokens = load(MODEL).tokenizer.encode(text, truncation="none").tokens[1:-1][:MOST_TOKENS]
    room = st.slider(_("Places for the text"), 2, 40, 7, key="room", bind="query-params")
    from minibert.text.truncation import keep

    ways = {
        "head": _("**head**: the first {n}"),
        "tail": _("**tail**: the last {n}"),
        "head_tail": _("**head + tail**: a quarter from the start, the rest from the end"),
        "longest_first": _("**longest first**: the longer text loses its end; with one text, the head"),
    }
    with picture():
        for way, words in ways.items():
            kept = set(keep([len(tokens)], room, way)[0])
            st.markdown(words.format(n=room))
            show_tokens(
                tokens,
                kinds=["plain" if i in kept else "faded" for i in range(len(tokens))],
                limit=MOST_TOKENS,
                label=way,
            )
        if len(tokens) <= room:
            st.markdown(_("The text has {n} tokens and fits: nothing is cut.").format(n=len(tokens)))
    lesson.show(HEADING)
    command(f"--max-length {room + 2}", "--truncation head_tail")
    show_source(keep, label=_("What stays"))
