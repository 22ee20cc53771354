"""One hidden word: the guesses are those of `fill`, the weights those of the last layer, for any text."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.config import BertConfig
from minibert.inside.head_kinds import attentions
from minibert.inside.one_blank import hide, look
from minibert.model import BertForPreTraining
from minibert.pretrain import fill
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.hostile import HOSTILE

TEXT = "abc de, fg."


def model_of(tokenizer: Tokenizer, spread: float) -> BertForPreTraining:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        initializer_range=spread,
    )
    return BertForPreTraining(config).eval()


TOKENIZER = Tokenizer([*SPECIAL_TOKENS, *"abcdefgh.,", *("##" + c for c in "abcdefgh")])
MODEL = model_of(TOKENIZER, 0.6)


def words_of(text: str) -> list[tuple[int, int]]:
    return TOKENIZER.encode(text).word_spans()


def test_words_stand_where_they_stand_and_a_mark_is_one_too():
    assert [TEXT[start:end] for start, end in words_of(TEXT)] == ["abc", "de", ",", "fg", "."]
    text = "a [MASK] bc[SEP]d"
    assert [text[start:end] for start, end in words_of(text)] == ["a", "[MASK]", "bc", "[SEP]", "d"]
    assert words_of("") == [] == words_of("\u200d")


def test_words_are_those_of_the_first_text():
    assert TOKENIZER.encode("ab c", "de f").word_spans() == [(0, 2), (3, 4)]


def test_a_word_of_many_pieces_is_hidden_as_one():
    assert hide(TEXT, (0, 3)) == "[MASK] de, fg." and hide(TEXT, (4, 6)) == "abc [MASK], fg."


@pytest.mark.parametrize("blank", range(5))
def test_guesses_are_those_of_fill(blank):
    seen = look(MODEL, TOKENIZER, TEXT, words_of(TEXT), blank, top=7)
    (wanted,) = fill(MODEL, TOKENIZER, hide(TEXT, words_of(TEXT)[blank]), top=7)
    assert [word for word, _ in seen.guesses] == [word for word, _ in wanted]
    assert [p for _, p in seen.guesses] == pytest.approx([p for _, p in wanted], abs=1e-5)


def test_weights_are_of_the_head_that_looks_there_most():
    seen = look(MODEL, TOKENIZER, TEXT, words_of(TEXT), 1)
    encoding = TOKENIZER.encode("abc [MASK], fg.")
    assert encoding.tokens == ["[CLS]", "a", "##b", "##c", "[MASK]", ",", "f", "##g", ".", "[SEP]"]
    rows = attentions(MODEL, encoding.ids)[-1, :, 4]  # (A, T)
    groups = [[0], [1, 2, 3], [4], [5], [6, 7], [8], [9]]
    assert seen.weights == pytest.approx([rows[:, group].sum(1).max().item() for group in groups], abs=1e-6)
    assert not seen.even


def test_random_numbers_look_everywhere_alike():
    seen = look(model_of(TOKENIZER, 0.02), TOKENIZER, TEXT, words_of(TEXT), 1)
    assert seen.even


def test_of_two_blanks_the_one_asked_for_is_filled():
    text = "ab [MASK] cd [MASK]"
    first, second = (look(MODEL, TOKENIZER, text, words_of(text), blank).guesses for blank in (1, 3))
    blanks = fill(MODEL, TOKENIZER, text)
    assert [[word for word, _ in guesses] for guesses in (first, second)] == [[w for w, _ in row] for row in blanks]


def test_how_much_it_cannot_read():
    text = "ab ☃ ☃ cd"
    assert look(MODEL, TOKENIZER, text, words_of(text), 0).unknown == 0.5
    assert look(MODEL, TOKENIZER, text, words_of(text), 1).unknown == 0.25


def test_a_blank_beyond_the_positions_is_none():
    text = "a " * 60
    words = words_of(text)
    assert look(MODEL, TOKENIZER, text, words, 37) is not None
    assert look(MODEL, TOKENIZER, text, words, 38) is None


@settings(max_examples=60)
@given(st.text(max_size=30) | st.sampled_from([text[:200] for text in HOSTILE.values()]))
def test_any_text(text):
    words = words_of(text)
    for blank in {0, len(words) // 2, len(words) - 1} if words else ():
        seen = look(MODEL, TOKENIZER, text, words, blank)
        if seen is not None:
            assert len(seen.weights) == len(words) + 2
            assert all(0 <= weight <= 1.00001 for weight in seen.weights)
