"""The user's text, pattern and words, and the model that fills the blank."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.limits import warn_unread_text
from ui.model_cache import load
from ui.page import drawer
from ui.text import literal
from ui.translations import _, first_language

if TYPE_CHECKING:
    from minibert.finetune.predictor import Predictor
    from minibert.tasks import TaskData

PREFIX = "few_labels"  # of the `kind` of this page's runs
STARTS = {"en": "minilm-en", "zh": "mini-zh"}
SETS = {"en": "reviews", "zh": "reviews-zh"}
PATTERNS = {
    "en": (
        "{text} It was [MASK].",
        "It was [MASK]. {text}",
        "{text} All in all, it was [MASK].",
        "Just [MASK]! {text}",
    ),
    "zh": ("{text}我[MASK]喜欢。", "{text}真[MASK]！", "{text}[MASK]值得。", "{text}很[MASK]。"),
}
WORDS = {
    "en": {
        "negative": ("bad, terrible, boring", "bad", "terrible"),
        "positive": ("good, great, wonderful", "good", "great"),
    },
    "zh": {"negative": ("不", "差"), "positive": ("很", "好")},
}
USUAL_ZH = {"{text}真[MASK]！": ("差", "好"), "{text}很[MASK]。": ("差", "好")}  # patterns that need other words
MAX_CHARS = 600


@dataclass(frozen=True)
class Inputs:
    """words: label → its words."""

    language: str
    text: str
    pattern: str
    words: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def model(self) -> str:
        return STARTS[self.language]

    @property
    def usual_words(self) -> dict[str, list[str]]:
        return {label: split(words[0]) for label, words in WORDS[self.language].items()}


def label_names() -> dict[str, str]:
    return {"negative": _("negative"), "positive": _("positive")}


def split(words: str) -> list[str]:
    """great, good → two words; Chinese commas too."""
    return [word.strip() for word in words.replace("，", ",").replace("、", ",").split(",") if word.strip()]


@cache
def reviews(language: str, part: str) -> "TaskData":
    from minibert.tasks import TASKS

    return TASKS["classification"].read(LESSONS / "data" / SETS[language] / f"{part}.tsv")


def read(lesson: Lesson) -> Inputs:
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        language = choice(
            "language", _("Language"), {"en": "English", "zh": "中文"}, bare=True, default=first_language()
        )
        left = st.container()
        with drawer(_("Examples"), key="few-drawer"):
            examples = st.container()
    with left:
        text = sentence_input(
            "text", lesson.examples_called(language), max_chars=MAX_CHARS, examples_in=examples, label=_("Your text")
        )
    with st.container(horizontal=True, key="pattern-row", vertical_alignment="bottom", gap="medium"):
        with st.container():
            pattern = sentence_input(
                "pattern",
                PATTERNS[language],
                max_chars=200,
                examples_in=examples,
                label=literal(_("Your pattern, with {text} and [MASK]")),
                blanks=True,
            )
        words = {}
        for label, name in label_names().items():
            with st.container(width=255):
                words[label] = sentence_input(
                    label,
                    WORDS[language][label],
                    max_chars=100,
                    examples_in=examples,
                    label=_("Words for “{label}”").format(label=name),
                )
    warn_unread_text(STARTS[language], text)
    return Inputs(language, text, pattern, tuple((label, tuple(split(some))) for label, some in words.items()))


def asker(inputs: Inputs, pattern: str | None = None, words: dict | None = None) -> "Predictor":
    """A predictor with the shared model's own weights. Raises ValueError for an invalid pattern or words."""
    from minibert.few_labels.zero_shot import zero_shot_predictor

    loaded = load(inputs.model)
    return zero_shot_predictor(
        loaded.model,
        loaded.tokenizer,
        inputs.pattern if pattern is None else pattern,
        {label: list(some) for label, some in (words or dict(inputs.words)).items()},
    )
