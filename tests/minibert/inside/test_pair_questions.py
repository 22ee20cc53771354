"""Pairs to judge, and what heads say of them: by hand."""

import numpy as np
import pytest
import torch

from minibert.inside.predictions.pair_questions import balanced_accuracy, follows, judged, pairs_to_judge
from minibert.model import Batch
from minibert.relatives.albert import AlbertConfig
from minibert.text.segment_pairs import SegmentPair
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from tests.minibert.inside.random_models import random_model

TOKENIZER = Tokenizer(world.vocabulary())
DOCUMENTS = world.documents(20, 3, "small")


@pytest.mark.parametrize("second", ["sop", "nsp"])
def test_true_pairs_follow_in_a_story_and_others_do_turned_round_or_not_at_all(second):
    told = [" ".join(TOKENIZER.encode(" ".join(lines), add_special=False).tokens) for lines in DOCUMENTS]
    fits = {0: [], 1: []}
    for pair in pairs_to_judge(DOCUMENTS, TOKENIZER, second):
        halves = (pair.b, pair.a) if second == "sop" and pair.next_label else (pair.a, pair.b)
        words = " ".join(TOKENIZER.vocab[i] for half in halves for i in half)
        fits[pair.next_label].append(any(words in story for story in told))
    assert fits[0] and all(fits[0]) and fits[1]
    if second == "sop":
        assert all(fits[1])
    else:
        assert sum(fits[1]) < 0.2 * len(fits[1])  # a short closing may stand in many a story


def test_follows_is_the_heads_first_class_row_by_row():
    config = AlbertConfig(TOKENIZER.vocab_size, 16, 2, 2, 24, embedding_size=8, initializer_range=0.5)
    model = random_model(config)
    pairs = pairs_to_judge(DOCUMENTS, TOKENIZER, "sop")
    said = follows(model, TOKENIZER, pairs)
    assert len(said) == len(pairs)
    for index in (0, len(pairs) - 1):
        a, b = pairs[index].a, pairs[index].b
        ids = [TOKENIZER.cls_id, *a, TOKENIZER.sep_id, *b, TOKENIZER.sep_id]
        segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        with torch.no_grad():
            alone = model(Batch(torch.tensor([ids]), torch.tensor([segments]))).nsp_logits.softmax(-1)[0, 0]
        assert said[index] == pytest.approx(alone.item(), abs=1e-5)
    both = judged(model, TOKENIZER, DOCUMENTS)
    assert both["sop"] == balanced_accuracy(said, pairs)
    pairs = pairs_to_judge(DOCUMENTS, TOKENIZER, "nsp")
    assert both["nsp"] == balanced_accuracy(follows(model, TOKENIZER, pairs), pairs)


def test_true_pairs_and_others_weigh_the_same():
    pairs = [SegmentPair([5], [6], label) for label in (0, 0, 0, 1)]
    assert balanced_accuracy(np.array([0.9, 0.8, 0.1, 0.2]), pairs) == pytest.approx((2 / 3 + 1) / 2)
    assert balanced_accuracy(np.full(4, 0.9), pairs) == 0.5  # whoever always says the same
    assert balanced_accuracy(np.array([0.1, 0.1, 0.1, 0.9]), pairs) == 0
