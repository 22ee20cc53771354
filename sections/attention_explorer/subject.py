"""What all parts of the lesson look at: the class's sentence, the model, its heads and the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from sections.attention_explorer import views
from ui import inspected_model
from ui.inputs import choice, sentence_input, state
from ui.inspected_model import HeadPlace, InspectedModel, head_name
from ui.lesson import Lesson
from ui.limits import warn_unread
from ui.model_widgets import WELL_READ, model_choice, warn_untrained
from ui.page import with_drawer
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    from torch import Tensor

    from minibert.inside.model_input import ModelInput

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

MAX_CHARS = 4_000  # characters of a sentence
MAX_TOKENS = 512
SMALL = 32  # most pixels per side of a small picture
FALLBACK = (1, 1)  # head of a sentence without a telling one, from 0; clipped to the model's


@dataclass(frozen=True)
class ModelText:
    """A text and its model input. second: a second sentence, None without one."""

    subject: InspectedModel
    reading: ModelInput
    text: str
    second: str | None


@dataclass(frozen=True)
class Seen:
    """What a view draws: tokens, or words with the attention between them. probs: (L, A, N, N) · ordinary: the places
    of all but [CLS] and [SEP] · pieces: for each word the positions of its tokens; None for tokens."""

    names: tuple[str, ...]
    probs: Tensor
    ordinary: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class Inputs:
    """What is on the page: one side, or two beside each other. default_head, default_row: the head that is shown first,
    and the token for which it is telling; None for all tokens."""

    sides: tuple[ModelText, ...]
    default_head: HeadPlace
    default_row: int | None

    @property
    def subject(self) -> InspectedModel:
        return self.sides[0].subject

    @property
    def reading(self) -> ModelInput:
        return self.sides[0].reading


def read(lesson: Lesson) -> Inputs:
    """The class's sentence; in the drawer the model, a second sentence, and what to show side by side."""
    st.html(Path(__file__).with_name("explorer.css"))
    sentence, settings = with_drawer(holds=("second",))
    with settings:
        examples_in = st.container()
        name = model_choice(default=WELL_READ)
        second = sentence_input(
            "second", [], label=_("A second sentence"), max_chars=MAX_CHARS, placeholder=_("may stay empty")
        )
        beside = {"none": _("nothing"), "sentence": _("another sentence"), "model": _("another model")}
        compare = choice("compare", _("Side by side with"), beside)
        others = st.container()
    with sentence:
        text = sentence_input(
            "sentence", lesson.examples_for(name), max_chars=MAX_CHARS, travels=True, examples_in=examples_in
        )
    texts = [(name, text, second or None)]
    with others:
        if compare == "sentence":
            label = _("The other sentence")
            texts.append((name, sentence_input("other", [], default=lesson.examples[-1], label=label), None))
        elif compare == "model":
            texts.append((model_choice("other_model", label=_("The other model")), text, second or None))
    with st.spinner(_("Loading the model …")):
        sides = tuple(side_of(InspectedModel.of(of), *pair) for of, *pair in texts)
    warn_untrained(name)
    for side in sides:
        say_what_is_cut(side)
    return Inputs(sides, *default_head(sides[0]))


def side_of(subject: InspectedModel, text: str, second: str | None) -> ModelText:
    return ModelText(subject, read_pair(subject, text, second), text, second)


def read_pair(subject: InspectedModel, text: str, second: str | None, limit: int = MAX_TOKENS) -> ModelInput:
    from minibert.inside.model_input import ModelInput

    longest = min(limit, subject.model.config.longest)
    return ModelInput.of(subject.tokenizer, text, second or None, longest)


def say_what_is_cut(side: ModelText) -> None:
    """Notes: what the model does not read of a text, and tokens it was never trained on."""
    whole = side.subject.tokenizer.encode(side.text, side.second)
    n = len(side.reading.ids)
    if len(whole) > n:
        text = _("Your text has {whole} tokens. {model} reads {n} of them.")
        st.info(text.format(whole=len(whole), model=literal(side.subject.title), n=n), icon=":material/content_cut:")
    read = side.subject.tokenizer.encode(side.text, side.second, max_length=n)
    warn_unread(read, side.subject.name, side.text + (side.second or ""))


@st.cache_resource(show_spinner=False, max_entries=6)
def inside(subject: InspectedModel, reading: ModelInput) -> dict[str, Any]:
    """probs (L, A, T, T), query and key (L, A, T, D), float32, shared by all sessions: read-only. allowed: (T, T) bool,
    False where masked · relative_scores: (L, A, T, T), only for relative positions (NEZHA, XLNet) · distances: only
    XLNet's, the vector of each distance."""
    import torch

    from minibert.inside.heads.arithmetic import allowed
    from minibert.model import Batch

    tensors: dict[str, list] = {"probs": [], "query": [], "key": [], "relative_scores": [], "distances": []}

    def tap(name: str, x: Any) -> Any:
        last = name.rpartition(".")[2]
        if ".attn." in name and last in tensors:
            tensors[last].append(x[0].float())
        return x

    bert = getattr(subject.model, "bert", subject.model)
    batch = Batch(torch.tensor([reading.ids]), torch.tensor([reading.segments]))
    with torch.inference_mode():
        bert(batch, tap)
    stacked = {name: torch.stack(values) for name, values in tensors.items() if values}
    return stacked | {"allowed": allowed(bert, batch)}


@st.cache_resource(show_spinner=False, max_entries=6)
def words_of(subject: InspectedModel, reading: ModelInput, text: str, second: str | None) -> Seen:
    """Attention between whole words (Clark et al. 2019): to a word the sum over its pieces, from a word their mean."""
    from minibert.inside.heads.accuracy import between_words
    from minibert.inside.heads.words import whole_words

    encoding = subject.tokenizer.encode(text, second, max_length=len(reading.ids))
    pieces = tuple(map(tuple, whole_words(encoding, (text, second or ""))))
    names = tuple("".join(reading.tokens[at].removeprefix("##") for at in word) for word in pieces)
    ordinary = tuple(place for place, word in enumerate(pieces) if word[0] in set(reading.words))
    return Seen(names, between_words(inside(subject, reading)["probs"], pieces), ordinary, pieces)


def seen(side: ModelText, words: bool) -> Seen:
    if words:
        return words_of(side.subject, side.reading, side.text, side.second)
    return Seen(side.reading.tokens, inside(side.subject, side.reading)["probs"], tuple(side.reading.words))


def choose_words(inputs: Inputs) -> bool:
    """Whether to show words in place of tokens; asked only where a word may have several."""
    from minibert.inside.heads.words import may_join

    sides = inputs.sides
    if not any(may_join(side.subject.tokenizer.encode(side.text, side.second)) for side in sides):
        return False
    return choice("units", _("Between"), {"pieces": _("pieces"), "words": _("words")}) == "words"


# --- one of the heads, and all of them -------------------------------------------------------------------------------


def default_head(side: ModelText) -> tuple[HeadPlace, int | None]:
    """The most telling head for the sentence's default word, as in *Attention*, and that word; None without one."""
    from minibert.inside.heads.telling import telling_head, word_that_asks

    tokens = side.reading.tokens
    asks = word_that_asks(tokens, side.reading.words)
    telling = telling_head(inside(side.subject, side.reading)["probs"], tokens, asks)
    return (side.subject.head(*FALLBACK), None) if telling is None else (telling[:2], asks)


def all_names(subject: InspectedModel) -> list[str]:
    layers, heads = subject.shape
    return [head_name(layer, head) for layer in range(layers) for head in range(heads)]


def pick_head(inputs: Inputs) -> HeadPlace:
    """Select boxes for layer and head, kept in the link; a click on a picture moves them."""
    return inspected_model.pick_head(inputs.subject.shape, inputs.default_head, views.wide(130))


def open_head(click: dict) -> None:
    st.session_state[state("layer")], st.session_state[state("head")] = max(0, click["layer"]), max(0, click["head"])


def small_pictures(
    side: ModelText,
    key: str,
    on_click: Callable[[dict], Any],
    labels: Sequence[str] = (),
    *,
    selected: HeadPlace | None = None,
    crossed: Sequence[HeadPlace] = (),
    words: bool = False,
) -> None:
    """Every head as a small picture of its attention on the sentence."""
    from minibert.inside.heads.attention_summary import small_copies
    from plots.attention_payloads import heads_payload

    names = all_names(side.subject)
    titles = [
        f"{name}{_(': ')}{label}".replace("\n", " ") if label else name
        for name, label in zip(names, labels or names, strict=True)
    ]
    payload = heads_payload(
        small_copies(seen(side, words).probs, SMALL),
        labels or [""] * len(names),
        titles if labels else names,
        selected=selected,
        crossed=crossed,
    )
    views.show("heads", payload, key, on_click, file="attention-heads")
