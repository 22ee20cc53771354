"""The user's question, the sentences to search, and the model and pooling that make vectors."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from ui.first_views import first_view
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import language_read, load, version_of
from ui.model_widgets import WELL_READ, model_choice, warn_untrained
from ui.page import drawer
from ui.samples import questions
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np

    from minibert.sentence_vectors.encoder import SentenceVectors

MAX_CHARS, MAX_OWN = 300, 6_000
MOST_LINES = 200  # most lines of the class's own
PREFIX = "sentence_vectors"  # of the `kind` of this page's runs


@dataclass(frozen=True)
class Inputs:
    """lines: the sentences to search · standards: the standard question of each, None for the class's own lines."""

    text: str
    model: str
    pooling: str
    language: str
    lines: tuple[str, ...]
    standards: tuple[str | None, ...]


def pooling_names() -> dict[str, str]:
    return {"mean": _("mean of all tokens"), "cls": "[CLS]", "max": _("maximum of all tokens")}


def read(lesson: Lesson) -> Inputs:
    """The question; in a drawer the model, the pooling and the class's own sentences."""
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left = st.container()
        with drawer(_("Model and sentences"), key="vectors-drawer", holds=("own",)):
            examples = st.container()
            model = model_choice(default=WELL_READ)
            pooling = choice("pooling", _("A sentence’s vector"), pooling_names(), wrap=True)
            own = sentence_input(
                "own",
                [],
                default="",
                multiline=True,
                max_chars=MAX_OWN,
                label=_("Sentences of the class, one a line"),
                placeholder=_("They are searched, too."),
            )
    language = language_read(model)
    with left:
        text = sentence_input(
            "text",
            lesson.examples_for(model),
            max_chars=MAX_CHARS,
            examples_in=examples,
            label=_("A question in your words: which questions mean the same?"),
        )
    warn_untrained(model)
    warn_unread_text(model, text)
    mine = list(dict.fromkeys(line.strip() for line in own.splitlines() if any(map(str.isalnum, line))))[:MOST_LINES]
    desk = questions(language)
    return Inputs(
        text.strip(),
        model,
        pooling,
        language,
        (*(question for question, _standard in desk), *mine),
        (*(standard for _question, standard in desk), *(None for _line in mine)),
    )


def encoder(model: str, pooling: str) -> "SentenceVectors":
    """The chosen model as an encoder; shared by all sessions, never changed."""
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.sentence_vectors.encoder import LONGEST, SentenceEncoder, SentenceVectors

    loaded = load(model)
    bert = encoder_of(loaded.model)
    return SentenceVectors(
        SentenceEncoder(bert, pooling).eval(), loaded.tokenizer, longest=min(LONGEST, bert.config.longest)
    )


@st.cache_data(show_spinner=False, max_entries=48)
def _vectors(model: str, version: int, pooling: str, texts: tuple[str, ...]) -> "np.ndarray":
    def compute() -> "dict[str, np.ndarray]":
        return {"vectors": encoder(model, pooling).embed(texts)}

    return first_view("sentence_vectors", "sentences", model, [pooling, texts], compute)["vectors"]


def vectors(model: str, pooling: str, texts: tuple[str, ...]) -> "np.ndarray":
    """(N, H), computed once for all sessions."""
    return _vectors(model, version_of(model), pooling, texts)


def table_of(inputs: Inputs) -> "np.ndarray":
    """The vectors of all lines, (N, H): those of the desk's questions, and of the user's own."""
    import numpy as np

    desk = len(questions(inputs.language))
    parts = [part for part in (inputs.lines[:desk], inputs.lines[desk:]) if part]
    return np.concatenate([vectors(inputs.model, inputs.pooling, part) for part in parts])
