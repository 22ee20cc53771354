from itertools import product

import pytest

from minibert.inside.model_input import ModelInput
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer([*SPECIAL_TOKENS, "the", "dog", "bites", "man", ".", "it", "hurts"])


@pytest.fixture
def reading(tokenizer):
    return ModelInput.of(tokenizer, "the dog bites the man.", "it hurts")


def test_a_pair_as_the_model_reads_it(tokenizer, reading):
    assert reading.tokens == ("[CLS]", "the", "dog", "bites", "the", "man", ".", "[SEP]", "it", "hurts", "[SEP]")
    assert [tokenizer.ids[token] for token in reading.tokens] == list(reading.ids)
    assert reading.segments == (0,) * 8 + (1,) * 3
    assert reading.words == [1, 2, 3, 4, 5, 6, 8, 9]
    assert len(ModelInput.of(tokenizer, "the dog bites", max_length=4).ids) == 4
    assert ModelInput.of(tokenizer, "").words == []


def test_padding_is_added_and_taken_off_and_hiding_a_word_leaves_the_rest(tokenizer, reading):
    padded = reading.padded(3)
    assert padded.tokens[-3:] == ("[PAD]",) * 3 and padded.length == reading.length
    assert padded.batch().padding[0].tolist() == [True] * 11 + [False] * 3
    assert padded.padded(0) == reading and padded.words == reading.words
    hidden = reading.hiding(2)
    assert hidden.tokens[2] == "[MASK]" and hidden.ids[2] == tokenizer.mask_id
    assert hidden.ids[:2] + hidden.ids[3:] == reading.ids[:2] + reading.ids[3:]
    assert reading.tokens[2] == "dog"
    first = padded.first(4)
    assert first.tokens == ("[CLS]", "the", "dog", "[SEP]") and first.segments == (0,) * 4 and not first.padding
    assert padded.first(99) == reading


def test_orders_move_the_first_sentences_words_only(tokenizer, reading):
    for kind, sentence in (("reversed", ". man the bites dog the"), ("swapped", "the man bites the dog .")):
        other = reading.reordered(reading.new_order(kind))
        assert " ".join(other.tokens[1:7]) == sentence
        assert other.tokens[0] == "[CLS]" and other.tokens[7:] == reading.tokens[7:]
        assert other.segments == reading.segments
    two = ModelInput.of(tokenizer, "dog bites.")
    assert two.reordered(two.new_order("swapped")).tokens == ("[CLS]", "bites", "dog", ".", "[SEP]")
    order = reading.new_order("shuffled")
    assert order == reading.new_order("shuffled") != list(range(11)) == sorted(order)
    with pytest.raises(ValueError, match="sorted"):
        reading.new_order("sorted")
    for kind, text in product(("reversed", "swapped", "shuffled"), ("", ".", "dog")):
        nothing_to_move = ModelInput.of(tokenizer, text)
        assert nothing_to_move.reordered(nothing_to_move.new_order(kind)) == nothing_to_move
