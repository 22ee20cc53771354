"""Samples and what a discriminator says of them: held against the networks read one text at a time."""

from itertools import combinations

import pytest
import torch

from minibert import checkpoint
from minibert.folders import ROOT
from minibert.inside.relatives.replaced import fitting, originality, places_to_hide
from minibert.model import Batch
from minibert.toy import world
from minibert.toy.pretrain import choice_accuracy, questions, words_by_kind

PAIR = ROOT / "checkpoints" / "electra-toy" / "pair"
TEXT = "sofia was a kind girl. soon [MASK] found the rings."


@pytest.fixture(scope="module")
def pair():
    return checkpoint.load(PAIR), checkpoint.load_tokenizer(PAIR)


@torch.no_grad()
def by_hand(discriminator, ids, place, word) -> float:
    row = torch.tensor([ids])
    row[0, place] = word
    return 1 - torch.sigmoid(discriminator(Batch(row)).logits[0, place]).item()


def test_a_word_is_tried_in_its_place_and_places_are_those_that_may_fall(pair):
    discriminator, tokenizer = pair
    ids = tokenizer.encode(TEXT).ids
    place = ids.index(tokenizer.mask_id)
    words = [tokenizer.ids[word] for word in ("she", "he", "rings")]
    tried = originality(discriminator, ids, place, words)
    assert tried.tolist() == pytest.approx([by_hand(discriminator, ids, place, word) for word in words], abs=1e-5)
    best = fitting(discriminator, tokenizer, TEXT, 3)
    assert [share for _, share in best] == sorted((share for _, share in best), reverse=True)
    for word, share in best:
        assert share == pytest.approx(by_hand(discriminator, ids, place, tokenizer.ids[word]), abs=1e-5)
    for text in ("sofia was a kind girl.", "[MASK] was a kind [MASK]."):
        with pytest.raises(ValueError, match="exactly one"):
            fitting(discriminator, tokenizer, text)
    special = [True, False, False, False, False, True]
    assert len(places_to_hide(special, 0.01, 0)) == 1 and places_to_hide([True, True], 0.5, 0) == []
    drawn = {tuple(places_to_hide(special, 0.5, seed)) for seed in range(40)}
    assert drawn == set(combinations(range(1, 5), 2))


def test_preferring_the_right_word_is_counted(pair):
    discriminator, tokenizer = pair
    asked = questions(world.stories(2, 9, "small"), tokenizer, 128)[:12]
    rivals = words_by_kind(world.stories(50, 3, "small"), tokenizer)
    right = 0
    for ids, place, kind in asked:
        words = list(dict.fromkeys([*rivals[kind], ids[place]]))
        fits = [by_hand(discriminator, ids, place, word) for word in words]
        right += words[fits.index(max(fits))] == ids[place]
    assert choice_accuracy(discriminator, asked, rivals, tokenizer.mask_id, tokenizer.pad_id) == {
        "chosen": right / len(asked)
    }
