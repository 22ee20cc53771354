"""One pass: every number is one of the model's own on this text, and any text goes through."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.config import BertConfig
from minibert.inside.one_pass import OnePass, fitting, hide
from minibert.inside.predictions.next_sentence import judge
from minibert.model import Batch
from minibert.pretrain import fill
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.hostile import HOSTILE
from tests.minibert.inside.random_models import random_model

TEXT = "abc de, fg."
TOKENIZER = Tokenizer([*SPECIAL_TOKENS, *"abcdefgh.,", *("##" + c for c in "abcdefgh")])
CONFIG = BertConfig(TOKENIZER.vocab_size, 16, 2, 2, 32, max_position_embeddings=64, initializer_range=0.6)
MODEL = random_model(CONFIG)


def words_of(text: str) -> list[tuple[int, int]]:
    return TOKENIZER.encode(text).word_spans()


def passed(text: str, blank: int, second: str | None = None, model=MODEL) -> OnePass:
    word = words_of(text)[blank]
    encoding = TOKENIZER.encode(hide(text, word), second, max_length=64)
    values = {}

    def keep(name, x):
        values[name] = x.squeeze(0).numpy()
        return x

    with torch.inference_mode():
        model(Batch(torch.tensor([encoding.ids]), torch.tensor([encoding.segments])), tap=keep)
    return OnePass.of(encoding, values, word[0])


def test_words_stand_where_they_stand_and_a_mark_is_one_too():
    assert [TEXT[start:end] for start, end in words_of(TEXT)] == ["abc", "de", ",", "fg", "."]
    text = "a [MASK] bc[SEP]d"
    assert [text[start:end] for start, end in words_of(text)] == ["a", "[MASK]", "bc", "[SEP]", "d"]
    assert words_of("") == [] == words_of("\u200d")
    assert passed("ab cd", 0, "ab").words == [[0], [1], [2, 3], [4], [5, 6], [7]]  # "ab" of the second is another
    assert hide(TEXT, (0, 3)) == "[MASK] de, fg." and hide(TEXT, (4, 6)) == "abc [MASK], fg."
    assert passed("ab ☃ ☃ cd", 0).unknown(TOKENIZER.unk_id) == 0.5  # a share of the words that are not hidden
    assert passed("ab ☃ ☃ cd", 1).unknown(TOKENIZER.unk_id) == 0.25


@pytest.mark.parametrize("blank", range(5))
def test_guesses_are_those_of_fill(blank):
    seen = passed(TEXT, blank)
    (wanted,) = fill(MODEL, TOKENIZER, hide(TEXT, words_of(TEXT)[blank]), top=7)
    guesses = seen.guesses(TOKENIZER.vocab, 7)
    assert [word for word, _ in guesses] == [word for word, _ in wanted]
    assert [p for _, p in guesses] == pytest.approx([p for _, p in wanted], abs=1e-5)
    assert [seen.place_of(TOKENIZER.vocab.index(word)) for word, _ in guesses] == [1, 2, 3, 4, 5, 6, 7]


def test_of_two_blanks_the_one_asked_for_is_filled_and_a_pair_is_judged_as_elsewhere():
    text = "ab [MASK] cd [MASK]"
    found = [passed(text, blank).guesses(TOKENIZER.vocab, 5) for blank in (1, 3)]
    wanted = fill(MODEL, TOKENIZER, text)
    assert [[word for word, _ in row] for row in found] == [[word for word, _ in row] for row in wanted]
    text = hide(TEXT, words_of(TEXT)[1])
    assert passed(TEXT, 1, "ab gh.").follows == pytest.approx(judge(MODEL, TOKENIZER, [(text, "ab gh.")])[0], abs=1e-6)
    assert passed(TEXT, 1).follows is None


def test_what_is_added_leads_from_state_to_state_and_looks_are_of_the_head_that_looks_there_most():
    seen = passed(TEXT, 1)
    assert len(seen.states) == 3 and seen.attention.shape == (2, 2, 10, 10) and seen.added.shape == (2, 2, 10)
    parts = seen.parts
    assert np.allclose(parts["token"] + parts["segment"] + parts["position"], parts["sum"], atol=1e-6)
    block = MODEL.bert.blocks[1]
    with torch.inference_mode():
        between = block.attn_norm(torch.tensor(seen.states[1] + seen.values["blocks.1.attn.out"]))
        assert torch.allclose(block.mlp_norm(between + block.mlp(between)), torch.tensor(seen.states[2]), atol=1e-5)
    wanted = np.linalg.norm(seen.values["blocks.1.attn.out"][3]) / np.linalg.norm(seen.states[1][3])
    assert seen.added[1, 0, 3] == pytest.approx(wanted, abs=1e-6)
    assert seen.encoding.tokens == ["[CLS]", "a", "##b", "##c", "[MASK]", ",", "f", "##g", ".", "[SEP]"]
    assert seen.words == [[0], [1, 2, 3], [4], [5], [6, 7], [8], [9]]
    rows = seen.values["blocks.1.attn.probs"][:, 4]  # (A, T)
    assert seen.looks() == pytest.approx([rows[:, group].sum(1).max() for group in seen.words], abs=1e-6)
    assert not seen.even
    assert passed(TEXT, 1, model=random_model(CONFIG.change(initializer_range=0.02))).even


def test_what_is_too_long_loses_its_last_words_the_longer_text_first():
    assert fitting([TOKENIZER], "ab cd ef", "a b", 24) == ("ab cd ef", "a b")
    assert fitting([TOKENIZER], "ab cd ef", "a b", 9) == ("ab cd", "a b")
    assert fitting([TOKENIZER], "ab", "a b c d e f", 8) == ("ab", "a b c")
    assert fitting([TOKENIZER], "abcdefgh", "", 6) == ("abcd", "")
    assert fitting([TOKENIZER], "a " * 9_000, "b " * 7_000, 63) == (" ".join("a" * 30), " ".join("b" * 30))


@settings(max_examples=30)
@given(st.text(max_size=30) | st.sampled_from([text[:200] for text in HOSTILE.values()]))
def test_any_text(text):
    text, second = fitting([TOKENIZER], text, text[:10], 24)
    words = words_of(text)
    for blank in {0, len(words) // 2, len(words) - 1} if words else ():
        seen = passed(text, blank, second)
        assert len(seen.encoding) <= 24 and seen.blank is not None
        assert len(seen.looks()) == len(seen.words)
