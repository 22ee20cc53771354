"""What the whole page is about: the class's sentence, one of its words, and what stands in front of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ui.inputs import pick, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.pairs import Pair, choose_pair, networks
from ui.text import visible
from ui.translations import _

MAX_CHARS = 400
MOST = 30  # tokens of the sentence: with [CLS] and [SEP] the rows that the shipped pair was trained on
FRONT, MOST_FRONT = 40, 220  # words put in front at first, and at most
FURTHEST = 64  # as in the paper
STORIES = 5_000_003  # seed of what is put in front: stories that no pair has been trained on


@dataclass(frozen=True)
class Subject:
    """ids, tokens: the sentence alone · word: the chosen token's place in it · front: ids put in front · furthest: the
    clip ±k · layer, head: from 0."""

    text: str
    pair: Pair
    ids: Sequence[int]
    tokens: Sequence[str]
    word: int
    front: Sequence[int]
    furthest: int
    layer: int
    head: int

    def row(self, front: Sequence[int] = ()) -> list[int]:
        """[CLS], words in front, the sentence, [SEP]."""
        tokenizer = networks(self.pair)[2]
        return [tokenizer.cls_id, *front, *self.ids, tokenizer.sep_id]


def read(lesson: Lesson) -> Subject:
    """The sentence and its word, and beside them what is put in front; in a drawer what is seldom changed."""
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left, middle = st.container(), st.container(width=190)
        with drawer():
            pair = choose_pair(lesson.name)
            nezha, _bert, tokenizer = networks(pair)
            layer = pick("layer", _("Layer"), [str(n + 1) for n in range(nezha.config.num_hidden_layers)])
            head = pick("head", _("Head"), [str(n + 1) for n in range(nezha.config.num_attention_heads)])
            examples = st.container()
    with st.container(horizontal=True, key="again", vertical_alignment="bottom", gap="large"):
        count = st.slider(
            _("Words put in front"), 0, MOST_FRONT, FRONT, 10, key="front", bind="query-params", width=300
        )
        most = nezha.config.max_relative_position
        furthest = st.slider(
            _("Distances clipped at ±"), 1, FURTHEST, min(FURTHEST, most), key="k", bind="query-params", width=300,
            help=_("Beyond it all distances are alike. The paper has 64."),
        )  # fmt: skip
    with left:
        text = sentence_input(
            "text", lesson.examples, label=_("Text in words of the toy world"), max_chars=MAX_CHARS,
            examples_in=examples,
        )  # fmt: skip
    ids = tokenizer.encode(text).ids[1:-1][:MOST]
    tokens = [tokenizer.vocab[i] for i in ids]
    word = 0
    with middle:
        if tokens:
            numbered = [f"{n}. {visible(token)}" for n, token in enumerate(tokens, 1)]
            word = pick("word", _("The word"), numbered, default=picked_word(tokens))
    return Subject(text, pair, ids, tokens, word, in_front(pair, int(count)), min(int(furthest), most), layer, head)


def picked_word(tokens: Sequence[str]) -> int:
    """Where the page begins: at the first pronoun, which has somebody to look for."""
    return next((n for n, token in enumerate(tokens) if token in ("he", "she", "they", "it")), len(tokens) // 2)


def in_front(pair: Pair, count: int) -> list[int]:
    """The last `count` words of some stories that the models have not read."""
    from minibert.toy import world

    tokenizer = networks(pair)[2]
    told = [word.text for story in world.stories(8, STORIES, "small") for word in story.words]
    return [tokenizer.ids[word] for word in told[len(told) - count :]]
