"""Pairs to judge, and what heads say of them: by hand."""

import numpy as np
import pytest
import torch

from minibert.inside.pair_questions import balanced_accuracy, follows, judged, pairs_to_judge
from minibert.model import Batch, BertForPreTraining
from minibert.relatives.albert import AlbertConfig
from minibert.text.segment_pairs import SegmentPair
from minibert.tokenizer import Tokenizer
from minibert.toy import world

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(world.vocabulary())


@pytest.fixture(scope="module")
def model(tokenizer) -> BertForPreTraining:
    torch.manual_seed(0)
    config = AlbertConfig(tokenizer.vocab_size, embedding_size=8, initializer_range=0.5, **SIZES)
    return BertForPreTraining(config).eval()


@pytest.fixture(scope="module")
def documents():
    return world.documents(20, 3, "small")


@pytest.fixture(scope="module")
def told(documents, tokenizer):
    return [" ".join(tokenizer.encode(" ".join(lines), add_special=False).tokens) for lines in documents]


def test_of_orders_both_halves_are_of_one_story(tokenizer, documents, told):
    pairs = pairs_to_judge(documents, tokenizer, "sop")
    assert {pair.next_label for pair in pairs} == {0, 1}
    for pair in pairs:
        first, second = (pair.b, pair.a) if pair.next_label else (pair.a, pair.b)
        words = " ".join(tokenizer.vocab[i] for i in [*first, *second])
        assert any(words in story for story in told)


def test_of_the_next_the_others_are_from_another_story(tokenizer, documents, told):
    pairs = pairs_to_judge(documents, tokenizer, "nsp")
    assert {pair.next_label for pair in pairs} == {0, 1}
    fits = {0: [], 1: []}
    for pair in pairs:
        words = " ".join(tokenizer.vocab[i] for i in [*pair.a, *pair.b])
        fits[pair.next_label].append(any(words in story for story in told))
    assert all(fits[0]) and sum(fits[1]) < 0.2 * len(fits[1])  # a short closing may stand in many a story


def test_follows_is_the_heads_first_class_row_by_row(model, tokenizer, documents):
    pairs = pairs_to_judge(documents, tokenizer, "sop")
    said = follows(model, tokenizer, pairs)
    assert len(said) == len(pairs)
    for index in (0, len(pairs) - 1):
        a, b = pairs[index].a, pairs[index].b
        ids = [tokenizer.cls_id, *a, tokenizer.sep_id, *b, tokenizer.sep_id]
        segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        with torch.no_grad():
            alone = model(Batch(torch.tensor([ids]), torch.tensor([segments]))).nsp_logits.softmax(-1)[0, 0]
        assert said[index] == pytest.approx(alone.item(), abs=1e-5)


def test_true_pairs_and_others_weigh_the_same():
    pairs = [SegmentPair([5], [6], label) for label in (0, 0, 0, 1)]
    assert balanced_accuracy(np.array([0.9, 0.8, 0.1, 0.2]), pairs) == pytest.approx((2 / 3 + 1) / 2)
    assert balanced_accuracy(np.full(4, 0.9), pairs) == 0.5  # whoever always says the same
    assert balanced_accuracy(np.array([0.1, 0.1, 0.1, 0.9]), pairs) == 0


def test_both_questions_are_asked(model, tokenizer, documents):
    said = judged(model, tokenizer, documents)
    for second in ("nsp", "sop"):
        pairs = pairs_to_judge(documents, tokenizer, second)
        assert said[second] == balanced_accuracy(follows(model, tokenizer, pairs), pairs)
