"""What the whole page is about: the class's sentence, the token that is followed, and the two models that read it."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.text.json_values import json_value
from ui.inputs import numbered, pick, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.pairs import ModelPair, choose_pair, networks
from ui.text import visible
from ui.translations import _

MAX_CHARS = 400
MOST = 128  # tokens, as many as the shipped models were trained on


@dataclass(frozen=True)
class Inputs:
    """text: the sentence · token: index of the followed token, None for the mean of all · pair: the two models."""

    text: str
    token: int | None
    pair: ModelPair


def read(lesson: Lesson) -> Inputs:
    """The widgets: the sentence, beside it the followed token; in a drawer the pair of models."""
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left, middle = st.container(), st.container(width=230)
        with drawer():
            examples = st.container()
            pair = choose_pair(lesson.name, further=True)
    with left:
        text = sentence_input(
            "text",
            lesson.examples_called("real") if pair.further else lesson.examples,
            label=_("Your text") if pair.further else _("Text in words of the toy world"),
            max_chars=MAX_CHARS,
            examples_in=examples,
        )
    tokenizer = networks(pair)[2]
    tokens = tokenizer.encode(text, max_length=MOST, truncation="head").tokens
    with middle:
        words = [_("all, their mean"), *numbered([visible(token) for token in tokens])]
        token = pick("token", _("Follow a token"), words, width=230)
    return Inputs(text, token - 1 if token else None, pair)


def steps_of(folder: Path) -> int:
    """Training steps of the model in a folder, from the log beside it; 0 without a log."""
    log = folder / "training.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    return max((json_value(line).get("step", 0) for line in lines), default=0)
