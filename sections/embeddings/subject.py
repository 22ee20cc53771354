"""What the lesson looks at: the model, its vectors, the items drawn as points, the user's own sentences."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from ui.inputs import MAX_SEED, choice, sentence_input, typed
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import load, outline_of
from ui.model_registry import ModelInfo, available_models, peers
from ui.model_widgets import WELL_READ, model_choice, warn_untrained
from ui.page import drawer
from ui.samples import (
    LANGUAGES,
    VectorItems,
    all_words,
    many_words,
    one_word,
    own_tokens,
    place_of,
    senses,
    whole_sentences,
)
from ui.state import hold_absent
from ui.text import literal
from ui.translations import _, ngettext, pgettext

if TYPE_CHECKING:
    import numpy as np


SEED = 0
SENTENCE_ENCODER = "minilm-en"  # began as one: what its sentence vectors show is not true of BERT
MAX_LINES = 12  # most sentences of the user
MAX_CHARS = 2_000
EVERY = "*"  # all words of the set
OF_POINTS = ("word", "own", "text", "what", "pooling", "method", "view", "seed")  # widgets of one part alone


@dataclass(frozen=True)
class Inputs:
    """what: the kind of points · word: whose senses are shown; None for other kinds · own: the user's sentences, for a
    word only those containing it · text: whose tokens are shown."""

    model: str
    language: str
    what: str
    method: str
    view: str
    seed: int
    pooling: str
    word: str | None
    own: tuple[str, ...]
    text: str

    def sample(self, own: tuple[str, ...] | None = None) -> VectorItems:
        """The items drawn as points. own: use these instead of the user's sentences."""
        own, yours = self.own if own is None else own, _("yours")
        if self.what == "tokens":
            loaded = load(self.model)
            most = loaded.config.longest
            encoding = loaded.tokenizer.encode(self.text, max_length=most, truncation="head")
            return own_tokens(encoding, self.text, (_("whole word"), _("goes on (##)")))
        if self.word == EVERY:
            return all_words(self.language)
        if self.word is not None:
            return one_word(self.word, senses(self.language)[self.word], own, yours)
        return (many_words if self.what == "words" else whole_sentences)(self.language, own, yours)


def layer_names(count: int) -> list[str]:
    return [_("embeddings"), *(str(number) for number in range(1, count))]


def missing(layers: "np.ndarray") -> "np.ndarray":
    """(N,) True for items that the model could not read."""
    import numpy as np

    return np.isnan(layers[0]).any(-1)


@st.cache_data(show_spinner=False, max_entries=12)
def vectors(model: str, version: int, texts: tuple[str, ...], spans, pooling: str) -> "np.ndarray":
    """(L + 1, N, H), NaN for an item of which no token was read; computed once for all sessions."""
    from minibert.inside.geometry.vectors import sentence_vectors, span_vectors

    loaded = load(model)
    if spans is None:
        return sentence_vectors(loaded.model, loaded.tokenizer, texts, (pooling,))[pooling]
    return span_vectors(loaded.model, loaded.tokenizer, texts, spans)


def what_names() -> dict[str, str]:
    return {
        "senses": _("one word"),
        "words": _("words"),
        "sentences": _("sentences"),
        "tokens": _("your tokens"),
    }


def pooling_names() -> dict[str, str]:
    return {"mean": _("mean of all tokens"), "cls": "[CLS]", "max": _("maximum of all tokens")}


def method_names() -> dict[str, str]:
    return {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}


def read(lesson: Lesson, of_points: bool) -> Inputs:
    """One row: the word, the user's sentence, and in a drawer the rarely changed settings. of_points: whether the open
    part draws them as points; the others read the model and the language alone."""
    hold_absent(not of_points, *OF_POINTS)
    if not of_points:
        with drawer():
            model = model_choice(default=WELL_READ)
            language = _language(model)
        warn_untrained(model)
        return Inputs(model, language, "senses", "pca", "moving", SEED, "mean", EVERY, (), "")
    word, text, own = None, "", ()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="word-row"):
        # Run the drawer first: its settings decide what the row shows.
        first, second, last = st.container(width="content"), st.container(), st.container(width="content")
        with last, drawer(holds=("seed",)):
            model = model_choice(default=WELL_READ)
            language = _language(model)
            what = choice("what", pgettext("in a picture", "Points"), what_names())
            pooling = choice("pooling", _("A sentence’s vector"), pooling_names()) if what == "sentences" else "mean"
            method = choice("method", _("Projection"), method_names())
            view = choice("view", _("Layers"), {"moving": _("moving"), "all": _("side by side")})
            seed = SEED
            if method == "umap":  # the other two are deterministic
                seed = int(st.number_input(_("Seed"), 0, MAX_SEED, SEED, key="seed", bind="query-params") or 0)
        if what == "senses":
            with first:
                words = {word: word for word in senses(language)} | {EVERY: _("all of them")}
                word = choice("word", _("Word"), words, box=160)
        with second:
            if what == "tokens":
                text = sentence_input("text", lesson.examples_for(model), max_chars=MAX_CHARS, travels=True)
            elif word != EVERY:
                own = _own_lines(word)
    warn_untrained(model)
    warn_unread_text(model, text or max(own, key=len, default=""))
    return Inputs(model, language, what, method, view, seed, pooling, word, own, text)


def _language(model: str) -> str:
    """The language of the examples: the user's choice, by default that of the model's vocabulary."""
    from minibert.text.characters import mostly_cjk

    names = {"en": _("English"), "zh": _("Chinese")}
    own = "zh" if mostly_cjk(load(model).tokenizer.vocab) else "en"
    order = sorted(LANGUAGES, key=lambda name: name != own)
    return choice(f"examples-{own}", _("Examples in"), {name: names[name] for name in order})


def _own_lines(word: str | None) -> tuple[str, ...]:
    """Sentences that the user adds, one per line; with a `word`, only those containing it."""
    label, hint = _("Sentences of your own, one a line"), _("They appear as stars.")
    if word is not None:
        label = _("Your sentence with “{word}”: where will its star land?").format(word=word)
        hint = _("Type one (or several, a line each), then guess.")
    text = sentence_input(
        "own",
        [],
        default="",
        label=label,
        placeholder=hint,
        max_chars=MAX_CHARS,
        multiline=True,
        height=68,
        travels=word is None or not typed() or place_of(word, typed()) is not None,
    )
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    if len(lines) > MAX_LINES:
        st.caption(_("The first {most} of {n} lines are shown.").format(most=MAX_LINES, n=len(lines)))
    lines = lines[:MAX_LINES]
    without = [number for number, line in enumerate(lines, 1) if word is not None and place_of(word, line) is None]
    if without:
        st.caption(
            ngettext(
                "Line {lines} is left out: “{word}” does not stand in it.",
                "Lines {lines} are left out: “{word}” does not stand in them.",
                len(without),
            ).format(lines=_(", ").join(map(str, without)), word=literal(word))
        )
    return tuple(line for number, line in enumerate(lines, 1) if number not in without)


@st.cache_data(show_spinner=False, max_entries=48)
def made_for(name: str, directory: Path | None, version: int) -> str | None:
    """The language of a model's vocabulary; None if it cannot be read (whoever chooses that model sees why)."""
    from minibert.checkpoint_files import load_tokenizer
    from minibert.text.characters import mostly_cjk

    try:
        tokenizer = load_tokenizer(directory) if directory else outline_of(name).tokenizer
    except (ValueError, OSError):
        return None
    return "zh" if mostly_cjk(tokenizer.vocab) else "en"


def comparable(model: str, language: str) -> list[ModelInfo]:
    """The other models with a vocabulary for this language: the original first, random weights last."""
    others = (info for info in [*peers(language), *available_models()] if info.name != model)
    return [info for info in others if made_for(info.name, info.directory, info.version) == language]
