"""What all parts of the lesson look at: the model, the class's sentence, the chosen layer, head and word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ui import inspected_model
from ui.figures import figure
from ui.inputs import clicked, numbered, pick, picked, sentence_input, state
from ui.inspected_model import InspectedModel
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import load
from ui.model_widgets import WELL_READ, model_choice
from ui.page import drawer
from ui.projector import projecting
from ui.state import follow_link, hold, hold_absent, set_url, url_int
from ui.translations import _
from ui.window import following, with_first

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

MAX_CHARS = 500  # characters of a sentence
DRAWN = 18  # tokens drawn, with [CLS]: more are illegible from the back row
MAX_PADDING = 6
MOST_PADDING = 24  # in the experiment without a mask
PADDING = 2  # at first


class Needs(IntEnum):
    """What the open part reads, each with all before it; nothing else stands above the part."""

    NOTHING = 0
    TEXT = 1
    MODEL = 2  # and a second sentence
    HEAD = 3
    PADDING = 4


@dataclass(frozen=True)
class Inputs:
    """What is on the page; None: the open part does not need it. reading: with its padding · layer, head: from 0 ·
    default_row: of the word to show first."""

    text: str = ""
    second: str = ""
    subject: InspectedModel | None = None
    reading: ModelInput | None = None
    layer: int | None = None
    head: int | None = None
    default_row: int | None = None


@dataclass(frozen=True)
class Drawn:
    """Some tokens of a text, for a picture. all_tokens: the whole text · rows: the positions drawn."""

    all_tokens: tuple[str, ...]
    rows: tuple[int, ...]

    @property
    def tokens(self) -> list[str]:
        return [self.all_tokens[row] for row in self.rows]

    def of(self, values: Any) -> Any:
        """(T, …) → the rows drawn; lists and tensors."""
        return [values[row] for row in self.rows] if isinstance(values, list) else values[list(self.rows)]

    def square(self, values: Any) -> Any:
        """(…, T, T) → the cells drawn."""
        rows = list(self.rows)
        return values[..., rows, :][..., rows]

    def at(self, row: int) -> int | None:
        """Where a position of the text is drawn; None if it is not."""
        return self.rows.index(row) if row in self.rows else None

    def clicked(self, chart: str, *names: str) -> None:
        """Callback of a figure: `ui.inputs.clicked`, its row and column as positions of the text."""
        clicked(chart, *map(state, names))
        for name in {"row", "column"}.intersection(names):
            st.session_state[state(name)] = self.rows[min(st.session_state[state(name)], len(self.rows) - 1)]


@st.cache_resource(show_spinner=False, max_entries=8)  # half a megabyte of 18 tokens, 8 of 120
def trace(subject: InspectedModel, reading: ModelInput) -> dict:
    """Every intermediate tensor of the encoder, shared by all sessions: read-only."""
    from minibert.inside.heads.arithmetic import record

    return record(subject.model.bert, reading.batch())


def read(lesson: Lesson, needs: Needs) -> Inputs:
    """The class's sentence, layer and head in a row; model, second sentence and padding in the drawer beside them: what
    the open part needs. The others keep their values, in the link, too."""
    of_a_model, of_a_head = needs >= Needs.MODEL, needs >= Needs.HEAD
    hold_absent(needs < Needs.TEXT, "sentence")
    hold("model", "second", "padding")
    if needs < Needs.TEXT:
        return Inputs()
    with st.container(horizontal=True, vertical_alignment="bottom", key="subject"):
        width = 2 * place_width() + 30 if of_a_head else "content"
        sentence, places = st.container(), st.container(horizontal=True, width=width)
        settings = drawer(_("Examples"))
    with settings:
        examples_in = st.container()
        name = model_choice(fill=True, default=WELL_READ, drawn=of_a_model)
        second, padding = "", 0
        if of_a_model:
            second = sentence_input(
                "second", [], label=_("A second sentence"), max_chars=MAX_CHARS, placeholder=_("may stay empty")
            )
        if needs >= Needs.PADDING:
            padding = _padding()
    with sentence:
        text = sentence_input(
            "sentence", lesson.examples_for(name), max_chars=MAX_CHARS, travels=True, examples_in=examples_in
        )
    if not of_a_model:
        return Inputs(text)
    with st.spinner(_("Loading the model …")):
        from minibert.inside.heads.telling import word_that_asks

        subject = InspectedModel.of(name)
        reading = read_whole(name, text, second).padded(padding)
    row = word_that_asks(reading.tokens, reading.words)
    if st.session_state.setdefault("attention-text", text) != text:  # a new sentence has another default row
        st.session_state["attention-text"], st.session_state[state("row")] = text, row
    with places:
        layer, head = pick_head(subject, reading.padded(0), row) if of_a_head else (None, None)
    warn_unread_text(name, text, second or None)
    return Inputs(text, second, subject, reading, layer, head, row)


def _padding() -> int:
    """Not bind="query-params": a part without the slider would take its value out of the link."""
    if follow_link("padding") or "padding" not in st.session_state:
        st.session_state["padding"] = url_int("padding", PADDING, 0, MAX_PADDING)
    count = st.slider(_("Padding tokens"), 0, MAX_PADDING, key="padding")
    set_url("padding", count, default=PADDING)
    return count


def read_whole(name: str, text: str, second: str) -> ModelInput:
    """All that the model has positions for; some are left for padding."""
    from minibert.inside.model_input import ModelInput

    model = load(name)
    most = min(model.config.longest, 512) - MOST_PADDING
    return ModelInput.of(model.tokenizer, text, second or None, max(most, DRAWN))


def drawn(inputs: Inputs, row: int, padding: bool = False) -> Drawn:
    """The tokens that the pictures have room for: [CLS], those around the word at `row`, and the padding if wanted."""
    reading = inputs.reading
    window = following("attention", inputs.text + inputs.second, reading.length, DRAWN, min(row, reading.length - 1))
    behind = range(reading.length, len(reading.tokens) if padding else reading.length)
    return Drawn(reading.tokens, (*with_first(window), *behind))


def pick_head(subject: InspectedModel, reading: ModelInput, row: int) -> tuple[int, int]:
    """Layer and head, kept in the link. Default: the most telling head for the word at `row`."""
    from minibert.inside.heads.arithmetic import all_probs
    from minibert.inside.heads.telling import telling_head

    telling = telling_head(all_probs(trace(subject, reading))[:, 0], reading.tokens, row) or (0, 0)
    return inspected_model.pick_head(subject.shape, telling[:2], place_width())


def place_width() -> int:
    """Pixels of the select boxes of layer and head."""
    return round(118 * (1.5 if projecting() else 1))


def picked_row(inputs: Inputs) -> int:
    """Row of the chosen word, without drawing its widget."""
    return picked("row", len(inputs.reading.tokens), inputs.default_row)


def pick_row(inputs: Inputs, label: str) -> int:
    return pick("row", label, numbered(inputs.reading.tokens), inputs.default_row)


def go_to(layer: int, head: int) -> None:
    """Select a head; used as a callback."""
    st.session_state[state("layer")], st.session_state[state("head")] = layer, head


def axes() -> str:
    return _("from ↓ · to →")


def square(values: Any, tokens: Sequence[str]) -> pd.DataFrame:
    """A T × T matrix as a table."""
    return pd.DataFrame(values.numpy(), index=numbered(tokens), columns=numbered(tokens))


def tiny(value: float) -> str:
    """A number near zero: 2 × 10⁻⁷."""
    if not value:
        return "0"
    digits, power = f"{value:.0e}".split("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def aside(box: Any, name: str, value: str, beside: str) -> None:
    """A number beside its reference value."""
    box.metric(name, value, beside, delta_color="off", delta_arrow="off")


def show_guesses(subject: InspectedModel, before: Any, after: Any, names: tuple[str, str], key: str) -> None:
    """What the model predicts at the hidden word under two conditions, (V,) each: the top predictions of both."""
    from plots.attention import compared_words

    ids = list(dict.fromkeys(i for p in (before, after) for i in p.topk(3).indices.tolist()))
    words = [subject.tokenizer.vocab[i] for i in ids]
    guesses = [_(", ").join(f"{word} {p[i]:.1%}" for word, i in zip(words, ids, strict=True)) for p in (before, after)]
    alt = _("What the model expects. {first}: {words}. {second}: {others}.").format(
        first=names[0], second=names[1], words=guesses[0], others=guesses[1]
    )
    table = {_("token"): words, names[0]: before[ids], names[1]: after[ids]}
    fig = partial(compared_words, words, before[ids], after[ids], names, xaxis=_("probability"))
    figure(fig, alt, key, data=lambda: pd.DataFrame(table))
