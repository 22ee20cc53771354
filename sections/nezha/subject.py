"""What the whole page is about: the class's sentence, one of its words, and the words put in front of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import streamlit as st

from ui.inputs import pick, state, toy_sentence
from ui.lesson import Lesson
from ui.page import drawer
from ui.pairs import ModelPair, choose_pair, networks
from ui.text import visible
from ui.translations import _

MAX_CHARS = 400
MOST = 30  # tokens: 32 with [CLS] and [SEP], the training length of the shipped pair
FRONT, MOST_FRONT = 40, 220  # words put in front: default, maximum
FURTHEST = 64  # as in the paper
STORIES = 5_000_003  # seed of the stories put in front, outside all training data


@dataclass(frozen=True)
class Inputs:
    """ids, tokens: the sentence alone · word: index of the chosen token in it · front: ids put in front · furthest: the
    clip ±k · layer, head: from 0."""

    text: str
    pair: ModelPair
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


def heard(inputs: Inputs):
    """What distances add to the scores of the chosen head, of the sentence's own tokens."""
    from minibert.inside.relatives.distances import Heard, heard

    row = inputs.row(inputs.front)
    own = slice(1 + len(inputs.front), len(row) - 1)
    one = heard(networks(inputs.pair)[0], row, inputs.layer, inputs.head, inputs.furthest)
    return Heard(*(part[own, own] for part in (one.distance, one.vectors, one.by_distance, one.scores)))


def read(lesson: Lesson) -> Inputs:
    """The sentence and its word, and the number of words in front; in a drawer the rarely changed settings."""
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left, middle, right = st.container(), st.container(width=150), st.container(width=190)
        with drawer(holds=("k",)):
            pair = choose_pair(lesson.name)
            nezha, _bert, tokenizer = networks(pair)
            layer = pick("layer", _("Layer"), [str(n + 1) for n in range(nezha.config.num_hidden_layers)])
            head = pick("head", _("Head"), [str(n + 1) for n in range(nezha.config.num_attention_heads)])
            most = nezha.config.max_relative_position
            furthest = st.slider(
                _("Distances clipped at ±"),
                1,
                FURTHEST,
                min(FURTHEST, most),
                key="k",
                bind="query-params",
                help=_("Beyond it all distances are alike. The paper has 64."),
            )
            examples = st.container()
    with right:
        count = st.slider(_("Words put in front"), 0, MOST_FRONT, FRONT, 10, key="front", bind="query-params")
    with left:
        text = toy_sentence(lesson.examples, MAX_CHARS, examples)
    ids = tokenizer.encode(text).ids[1:-1][:MOST]
    tokens = [tokenizer.vocab[i] for i in ids]
    word = 0
    if st.session_state.setdefault("nezha-text", text) != text and tokens:  # a new text has another default word
        st.session_state["nezha-text"], st.session_state[state("word")] = text, picked_word(tokens)
    with middle:
        if tokens:
            numbered = [f"{n}. {visible(token)}" for n, token in enumerate(tokens, 1)]
            word = pick("word", _("The word"), numbered, default=picked_word(tokens))
    return Inputs(text, pair, ids, tokens, word, in_front(pair, int(count)), min(int(furthest), most), layer, head)


def picked_word(tokens: Sequence[str]) -> int:
    """Index of the default word: the first pronoun, which needs an antecedent, else a word that the models know."""
    asks = [n for n, token in enumerate(tokens) if token in ("he", "she", "they", "it")]
    known = [n for n, token in enumerate(tokens) if token.isalpha()] or range(len(tokens))
    return asks[0] if asks else known[len(known) // 2]


def in_front(pair: ModelPair, count: int) -> list[int]:
    """The last `count` words of some stories outside the models' training data."""
    tokenizer, words = networks(pair)[2], _words_in_front()
    return [tokenizer.ids[word] for word in words[len(words) - count :]]


@cache
def _words_in_front() -> list[str]:
    from minibert.toy import world

    return [word.text for story in world.stories(8, STORIES, "small") for word in story.words]
