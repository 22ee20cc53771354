"""The user's two sentences, the sentences around them, those that whitening is fitted on, and their vectors."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from ui.first_views import first_view
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson, course_reviews
from ui.limits import warn_unread_text
from ui.model_cache import language_read, load, version_of
from ui.model_widgets import WELL_READ, model_choice, warn_untrained
from ui.page import drawer
from ui.samples import annotated, questions, requests, senses, tagged
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np

    from minibert.sentence_vectors.whitening import Whitening

MAX_CHARS, MAX_OWN, MOST_LINES = 300, 6_000, 200
FITTED_ON = 1_200  # sentences at most
PREFIX = "cone"  # of the `kind` of this page's runs


@dataclass(frozen=True)
class Inputs:
    """pair: the user's two sentences · layers: a key of `sentence_vectors.encoder.LAYERS` · lines: the sentences of the
    cloud, the desk's questions and the class's own."""

    pair: tuple[str, str]
    model: str
    layers: str
    language: str
    lines: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return all(any(map(str.isalnum, text)) for text in self.pair)


def layer_names() -> dict[str, str]:
    return {
        "first-last": _("first and last block"),
        "last": _("last block"),
        "embeddings": _("embeddings alone, no block"),
    }


@cache
def to_fit(language: str) -> tuple[str, ...]:
    """The course's own sentences that whitening is fitted on: none of the desk's, none of the scored pairs."""
    between = "" if language == "zh" else " "
    texts = [text for text, _intent in requests(language)]
    texts += [text for uses in senses(language).values() for _sense, text in uses]
    texts += [between.join(row[0]) for row in annotated(language)]
    if language == "zh":
        texts += ["".join(row[0]) for row in tagged(language)]
    else:
        texts += course_reviews("train")
    return tuple(dict.fromkeys(texts))[:FITTED_ON]


def read(lesson: Lesson) -> Inputs:
    """Two sentences; in a drawer the model, the layers and the class's own sentences."""
    with st.container(horizontal=True, key="two-sentences", vertical_alignment="bottom", gap="small"):
        left, right = st.container(), st.container()
        with drawer(_("Model and sentences"), key="cone-drawer", holds=("own",)):
            examples = st.container()
            model = model_choice(default=WELL_READ)
            layers = choice("layers", _("Mean of the tokens, from"), layer_names(), wrap=True)
            own = sentence_input(
                "own",
                [],
                default="",
                multiline=True,
                max_chars=MAX_OWN,
                label=_("Sentences of the class, one a line"),
                placeholder=_("They are drawn, too."),
            )
    language = language_read(model)
    some = lesson.examples_for(model)
    with left:
        first = sentence_input(
            "a", some[::2], max_chars=MAX_CHARS, examples_in=examples, label=_("Your sentence"), travels=False
        )
    with right:
        second = sentence_input("b", some[1::2], max_chars=MAX_CHARS, examples_in=examples, label=_("And another"))
    warn_untrained(model)
    for text in (first, second):
        warn_unread_text(model, text)
    mine = list(dict.fromkeys(line.strip() for line in own.splitlines() if any(map(str.isalnum, line))))[:MOST_LINES]
    lines = (*(question for question, _standard in questions(language)), *mine)
    return Inputs((first.strip(), second.strip()), model, layers, language, lines)


def every_layer(model: str, version: int, texts: tuple[str, ...]) -> "np.ndarray":
    """(layers, N, H). The class's own sentences are read without reading our questions again."""
    import numpy as np

    ours = tuple(question for question, _standard in questions(language_read(model)))
    if texts[: len(ours)] != ours or texts == ours:
        return _every_layer(model, version, texts)
    return np.concatenate([_every_layer(model, version, some) for some in (ours, texts[len(ours) :])], axis=1)


@st.cache_data(show_spinner=False, max_entries=32)
def _every_layer(model: str, version: int, texts: tuple[str, ...]) -> "np.ndarray":
    from minibert.inside.geometry.vectors import sentence_vectors

    loaded = load(model)
    return sentence_vectors(loaded.model, loaded.tokenizer, texts, ("mean",))["mean"]


def vectors(model: str, layers: str, texts: tuple[str, ...]) -> "np.ndarray":
    """(N, H), computed once for all sessions."""
    return _vectors(model, version_of(model), layers, texts)


@st.cache_data(show_spinner=False, max_entries=32)
def _vectors(model: str, version: int, layers: str, texts: tuple[str, ...]) -> "np.ndarray":
    from minibert.sentence_vectors.encoder import LAYERS

    def compute() -> "dict[str, np.ndarray]":
        every = every_layer(model, version, texts)
        return {"vectors": every[list(LAYERS[layers] or (-1,))].mean(0)}

    return first_view("cone", "sentences", model, [layers, texts], compute)["vectors"]


@st.cache_resource(show_spinner=False, max_entries=32)
def _fitted(model: str, version: int, layers: str, language: str) -> "Whitening":
    from minibert.sentence_vectors.whitening import Whitening

    return Whitening.fit(vectors(model, layers, to_fit(language)))


def fitted(inputs: Inputs) -> "Whitening":
    """Whitening with all columns, fitted on the sentences of `to_fit`."""
    return _fitted(inputs.model, version_of(inputs.model), inputs.layers, inputs.language)
