"""What the whole page is about: the class's sentence, and the model that tokenizes it and fills its blanks."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.model_widgets import WELL_READ, model_choice
from ui.page import drawer, with_drawer
from ui.state import hold_absent, notes
from ui.translations import _

MAX_CHARS = 1_000
CHIPS = 60  # most tokens drawn
BLANK = "[MASK]"


@dataclass(frozen=True)
class Inputs:
    """text: the sentence · own: whether the user wrote it · model: its name · bars: number per blank · plain: examples
    without blanks, the first a longer text · pairs: examples with a blank, in twos."""

    text: str
    own: bool
    model: str
    bars: int
    plain: list[str]
    pairs: list[tuple[str, str]]

    @property
    def loaded(self):
        return load(self.model)


def read(lesson: Lesson, of_a_sentence: bool) -> Inputs:
    """The sentence and, in a drawer, the rarely changed settings. of_a_sentence: whether the open part reads it."""
    left, right = with_drawer(holds=("k",)) if of_a_sentence else (None, drawer(holds=("k",)))
    with right:
        examples_in = st.container()
        model = model_choice(
            fill=True, label=_("Model: its vocabulary cuts the text, its guesses fill the blanks"), default=WELL_READ
        )
        bars = st.slider(_("Bars for each blank"), 3, 10, 5, key="k", bind="query-params")
    examples = lesson.examples_for(model)
    plain = [text for text in examples if BLANK not in text]
    blanked = [text for text in examples if BLANK in text]
    offered = [*plain[1:], blanked[0]]
    pairs = list(zip(blanked[0::2], blanked[1::2], strict=True))
    hold_absent(not of_a_sentence, "cloze")
    if not of_a_sentence:
        return Inputs("", False, model, bars, plain, pairs)
    with left:
        text = sentence_input(
            "cloze",
            offered,
            label=_("Sentence with blanks"),
            max_chars=MAX_CHARS,
            travels=True,
            examples_in=examples_in,
            blanks=True,
        )
    return Inputs(text, text not in offered, model, bars, plain, pairs)


def follow(key: str, offered: str) -> None:
    """Call before drawing the field `key`: if it still holds the previous default, it takes the new one, `offered`; a
    text typed by the user stays."""
    state, before = st.session_state, notes("offered")
    if before.get(key) != offered and key in state and state[key] == before.get(key):
        state[key] = offered
    before[key] = offered


def encode_whole(inputs: Inputs, text: str):
    """All tokens that the model has positions for, between [CLS] and [SEP]; None, with a hint, if there is none."""
    tokenizer, config = inputs.loaded.tokenizer, inputs.loaded.config
    whole = tokenizer.encode(text)
    if len(whole) == 2:
        st.info(_("Type a sentence."), icon=":material/edit:")
        return None
    if len(whole) > config.longest:
        said = _("The model has {n} positions: it reads the first {shown} of {all} tokens.")
        st.caption(said.format(n=config.longest, shown=config.longest - 2, all=len(whole) - 2))
    return tokenizer.encode(text, max_length=config.longest, truncation="head")


def drawn(n: int, key: str, wanted: int) -> range:
    """The positions of at most CHIPS of a text's n tokens, [CLS] and [SEP] included. A longer text gets a slider for
    the first of them; before anybody moves it, the position `wanted` is among them."""
    last = n - 1 - CHIPS
    if last <= 1:
        return range(1, n - 1)
    start = max(1, min(last, wanted - CHIPS // 2))
    label = _("The model reads all {n} tokens. First of the {shown} drawn").format(n=n - 2, shown=CHIPS)
    first = st.slider(label, 1, last, start, key=f"{key}-{n}", width=420)
    return range(first, first + CHIPS)


def expected(model: str, ids: Sequence[int], positions: Sequence[int]):
    """`minibert.inside.predictions.cloze.expectations` of a model, computed once for all who ask the same."""
    return _expected(model, version_of(model), tuple(ids), tuple(positions), load(model).model)


@st.cache_resource(show_spinner=False, max_entries=32)  # a quarter of a megabyte a position
def _expected(model: str, version: int, ids: tuple[int, ...], positions: tuple[int, ...], _network):
    from minibert.inside.predictions.cloze import expectations

    return expectations(_network, ids, positions)


def last_word(encoding) -> int:
    """Position of the last token with a letter, special tokens excluded; without letters, the last of them."""
    candidates = [i for i, special in enumerate(encoding.special) if not special]
    return next((i for i in reversed(candidates) if any(map(str.isalpha, encoding.tokens[i]))), candidates[-1])
