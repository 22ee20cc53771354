"""Attention between words: groups of tokens, and a matrix small enough to add up by hand."""

import pytest
import torch

from minibert.inside.heads.accuracy import between_words
from minibert.inside.heads.words import may_join, whole_words
from minibert.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "un", "##wrap", "##ped", "gift", ".", *"我们喜欢北京"]
    )


def test_to_a_word_goes_the_sum_over_its_pieces_and_from_it_their_mean():
    """Clark et al. 2019, §4.1. Tokens: x, y1, y2."""
    probs = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.625, 0.125], [0.5, 0.25, 0.25]])
    expected = torch.tensor([[0.5, 0.5], [0.375, 0.625]])  # from y: (0.25 + 0.5) / 2, (0.75 + 0.5) / 2
    assert between_words(probs, [[0], [1, 2]]).equal(expected)
    assert between_words(probs, [[0], [1], [2]]).equal(probs)
    assert between_words(probs, [[0, 1], [2]]).equal(torch.tensor([[0.8125, 0.1875], [0.75, 0.25]]))


def test_pieces_make_a_word_and_what_was_added_stands_alone(tokenizer):
    encoding = tokenizer.encode("a unwrapped gift.", "[MASK] unwrapped")
    assert " ".join(encoding.tokens) == "[CLS] a un ##wrap ##ped gift . [SEP] [MASK] un ##wrap ##ped [SEP]"
    words = whole_words(encoding, ("a unwrapped gift.", "[MASK] unwrapped"))
    assert words == [[0], [1], [2, 3, 4], [5], [6], [7], [8], [9, 10, 11], [12]]
    assert may_join(encoding) and not may_join(tokenizer.encode("a gift."))


def test_chinese_characters_make_the_words_that_a_segmenter_finds(tokenizer):
    encoding = tokenizer.encode("我们喜欢北京.")
    assert whole_words(encoding, ("我们喜欢北京.",)) == [[0], [1, 2], [3, 4], [5, 6], [7], [8]]
    assert may_join(encoding)
    cut = tokenizer.encode("我们喜欢北京.", max_length=5)  # [CLS] 我 们 喜 [SEP]
    assert [len(word) for word in whole_words(cut, ("我们喜欢北京.",))] == [1, 2, 1, 1]
