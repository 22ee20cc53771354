"""What the whole page is about: the class's sentence, the order in which it is read, and one cell of the masks."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ui.inputs import MAX_SEED, choice, numbered, pick, picked, toy_sentence
from ui.lesson import Lesson
from ui.page import drawer
from ui.pairs import ModelPair, choose_pair, networks
from ui.text import visible
from ui.translations import _

MAX_CHARS = 400
MOST = 12  # most words in the pictures: two masks fit side by side
SEED = 5  # of the first order


@dataclass(frozen=True)
class Inputs:
    """ids, tokens: of the sentence alone · order: rank at which each is read, from 1 · guessed: whether it is a target
    · cell: (stream, row, column), from 0 · cut: number of words left out."""

    text: str
    pair: ModelPair
    ids: Sequence[int]
    tokens: Sequence[str]
    order: Sequence[int]
    guessed: Sequence[bool]
    cell: tuple[int, int, int]
    cut: int

    def row(self) -> list[int]:
        """[CLS], the sentence, [SEP]."""
        tokenizer = networks(self.pair)[2]
        return [tokenizer.cls_id, *self.ids, tokenizer.sep_id]


def streams() -> list[str]:
    return [_("content stream"), _("query stream")]


def read(lesson: Lesson) -> Inputs:
    """The sentence and the button to draw another order; in a drawer the rarely changed settings."""
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left = st.container()
        st.button(_("Draw another order"), key="draw", icon=":material/casino:", type="primary", on_click=_next_seed)
        with drawer(holds=("share", "seed")):
            pair = choose_pair(lesson.name)
            kind = choice(
                "order", _("The order"), {"drawn": _("drawn"), "right": _("left to right"), "left": _("right to left")}
            )
            share = st.slider(
                _("Words guessed, the last of the order"),
                10,
                100,
                17,
                1,
                format="%d %%",
                key="share",
                bind="query-params",
                help=_("The paper’s 1/K, with K = 6 or 7."),
            )
            seed = st.number_input(_("Seed"), 0, MAX_SEED, SEED, key="seed", bind="query-params", width=150)
            examples = st.container()
    with left:
        text = toy_sentence(lesson.examples, MAX_CHARS, examples)
    tokenizer = networks(pair)[2]
    ids = tokenizer.encode(text).ids[1:-1]
    cut = max(0, len(ids) - MOST)
    ids = ids[:MOST]
    tokens = [tokenizer.vocab[i] for i in ids]
    order = orders(len(ids), kind, SEED if seed is None else int(seed))
    last = max(1, round(len(ids) * share / 100))
    guessed = [place > len(ids) - last for place in order]
    cell = chosen_cell(tokens, order) if tokens else (0, 0, 0)
    return Inputs(text, pair, ids, tokens, order, guessed, cell, cut)


def orders(count: int, kind: str, seed: int) -> list[int]:
    """The rank at which each of `count` words is read, from 1."""
    import torch

    from minibert.relatives.parts.permutation import draw_order

    if kind != "drawn":
        return [n + 1 if kind == "right" else count - n for n in range(count)]
    return draw_order(torch.ones(1, count, dtype=torch.bool), torch.Generator().manual_seed(seed))[0].tolist()


def chosen_cell(tokens: Sequence[str], order: Sequence[int]) -> tuple[int, int, int]:
    """The cell that `pick_cell` below the picture, or a click on it, has chosen."""
    last = order.index(len(order))  # the last in the order has the most context
    return picked("stream", 2, 1), picked("row", len(tokens), last), picked("column", len(tokens), last)


def pick_cell(inputs: Inputs) -> None:
    """Widgets for stream, query word and key word."""
    words, last = numbered([visible(token) for token in inputs.tokens]), inputs.order.index(len(inputs.order))
    with st.container(horizontal=True, key="cell", gap="medium"):
        pick("stream", _("In the"), streams(), default=1, width=190)
        pick("row", _("Who looks"), words, default=last, width=190)
        pick("column", _("at whom?"), words, default=last, width=190)


def _next_seed() -> None:
    seed = st.session_state.get("seed")
    st.session_state["seed"] = ((SEED if seed is None else int(seed)) + 1) % (MAX_SEED + 1)
    st.session_state["order"] = "drawn"
