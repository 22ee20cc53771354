"""Augmentation: seeded, pure, and tags go with their words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert.finetune import augmentation
from minibert.finetune.augmentation import (
    METHODS,
    Augmentation,
    augmented,
    drop_words,
    join_words,
    model_fill,
    split_words,
    swap_words,
)
from minibert.tasks import TASKS, Example
from minibert.tasks.pairs import PairExample
from minibert.tasks.tagging import TaggedExample

words = st.integers(0, 20)
rates = st.floats(0.05, 1.0)
seeds = st.integers(0, 1000)


@given(words, rates, seeds)
def test_swapping_keeps_every_word(count, rate, seed):
    assert sorted(swap_words(count, rate, np.random.default_rng(seed))) == list(range(count))


@given(words, rates, seeds)
def test_dropping_keeps_the_order_and_never_drops_all(count, rate, seed):
    left = drop_words(count, rate, np.random.default_rng(seed))
    assert left == sorted(left) and (left or not count)
    if count > 1:
        assert len(left) == max(1, count - max(1, round(rate * count)))


@pytest.fixture(scope="module")
def fill(loaded):
    return model_fill(*loaded)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_copies(method, fill):
    task, examples = TASKS["classification"], [Example("a b c d e f g h", "x"), Example("北京 a b", "y")]
    copies, again, other = (augmented(task, examples, Augmentation(method, 0.3, 2), seed, fill) for seed in (1, 1, 2))
    assert copies == again != other
    assert [copy.label for copy in copies] == ["x", "x", "y", "y"]
    assert examples[0].text == "a b c d e f g h"
    assert sum(copy.text != examples[i // 2].text for i, copy in enumerate(copies)) >= 3


def test_as_many_words_as_said_are_masked_and_the_model_fills_whole_other_words(fill):
    words, rng = list("abcdefghij"), np.random.default_rng(0)
    (copy,), _ = augmentation.changed_words([words], Augmentation("mask", 0.3), rng)
    assert [b for a, b in zip(words, copy, strict=True) if a != b] == ["[MASK]"] * 3
    sentence = ["a", "bc", "d", "e"]
    for seed in range(5):
        (copy,) = fill([list(sentence)], [[0, 1, 3]], np.random.default_rng(seed))
        assert copy[1] == "bc"  # a word of two pieces stays
        assert copy[0] != "a" and copy[3] != "e" and copy[2] == "d"
        assert all(not word.startswith(("##", "[")) for word in copy)


def test_tags_go_with_their_words():
    example = TaggedExample(("Anna", "Lee", "saw", "Rome"), ("B-PER", "I-PER", "O", "B-LOC"))
    tag = {"Anna": "PER", "Lee": "PER", "saw": "O", "Rome": "LOC"}
    for method in ("swap", "drop"):
        for copy in augmented(TASKS["tagging"], [example], Augmentation(method, 0.5, 10), 0):
            assert [t[2:] or "O" for t in copy.tags] == [tag[word] for word in copy.words]
            for before, t in zip(("O", *copy.tags), copy.tags, strict=False):
                assert not t.startswith("I-") or before[2:] == t[2:]


def test_both_texts_of_a_pair_are_changed_and_chinese_character_by_character():
    (copy,) = augmented(TASKS["pair"], [PairExample("a b c", "d e f", "1")], Augmentation("drop", 0.3), 0)
    assert len(copy.text.split()) == len(copy.pair.split()) == 2
    assert split_words("我爱BERT 模型") == ["我", "爱", "BERT", "模", "型"]
    assert join_words(["我", "爱", "BERT", "too", "模", "型"]) == "我爱 BERT too 模型"


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="must be one of mask, replace, drop, swap"):
        Augmentation("translate")
    with pytest.raises(ValueError, match="above 0"):
        Augmentation(rate=0.0)
    with pytest.raises(ValueError, match="needs a model"):
        augmented(TASKS["classification"], [Example("a", "b")], Augmentation("replace"), 0)
    with pytest.raises(ValueError, match="cannot be augmented"):
        augmented(TASKS["intent"], [TASKS["intent"].example("a")], Augmentation("drop"), 0)
