"""Several hidden words: each for itself or one after the other, by both kinds of models, against their own logits."""

import math

import pytest
import torch

from minibert.config import BertConfig
from minibert.model import IGNORE, Batch
from minibert.relatives import build
from minibert.relatives.parts.permutation import PermutationLM
from minibert.relatives.xlnet import XlnetConfig
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.collocations import (
    at_once,
    collocation_metrics,
    collocations_of,
    expected,
    held_out_collocations,
    in_order,
)
from tests.minibert.inside.random_models import random_model

TOKENIZER = Tokenizer(world.vocabulary())
MASK = TOKENIZER.mask_id


@pytest.fixture(scope="module")
def models():
    sizes = (TOKENIZER.vocab_size, 32, 2, 2, 64)
    bert = random_model(BertConfig(*sizes, initializer_range=0.2))
    return bert, build(XlnetConfig(*sizes, initializer_range=0.2), PermutationLM).eval()


def logits_of(model, row: torch.Tensor, place: int, order=None) -> torch.Tensor:
    labels = torch.full_like(row, IGNORE)
    labels[0, place] = 7
    with torch.no_grad():
        return model(Batch(row, labels=labels, order=order)).mlm_logits[0].log_softmax(-1)


IDS = TOKENIZER.encode("leo was sick, so clara gave him some medicine.").ids
PLACES = (3, 10)


def test_bert_reads_mask_at_all_that_is_unknown(models):
    row = torch.tensor([IDS])
    row[0, list(PLACES)] = MASK
    both = [logits_of(models[0], row, place)[IDS[place]].item() for place in PLACES]
    assert at_once(models[0], IDS, PLACES, MASK) == pytest.approx(both, abs=1e-5)
    row[0, PLACES[0]] = IDS[PLACES[0]]
    after = logits_of(models[0], row, PLACES[1])[IDS[PLACES[1]]].item()
    assert in_order(models[0], IDS, PLACES, MASK) == pytest.approx([both[0], after], abs=1e-5)


def test_to_xlnet_what_is_unknown_comes_last(models):
    row, order = torch.tensor([IDS]), torch.zeros(1, len(IDS), dtype=torch.long)
    order[0, list(PLACES)] = torch.tensor([1, 2])
    first = logits_of(models[1], row, PLACES[0], order)[IDS[PLACES[0]]].item()
    order[0, PLACES[0]] = 0  # known by now, and all may look at it
    second = logits_of(models[1], row, PLACES[1], order.clamp(max=1))[IDS[PLACES[1]]].item()
    assert in_order(models[1], IDS, PLACES, MASK) == pytest.approx([first, second], abs=1e-5)


def test_what_is_unknown_changes_nothing(models):
    other = list(IDS)
    other[PLACES[1]] = 9
    for model in models:
        one, two = (expected(model, ids, PLACES[0], PLACES, MASK) for ids in (IDS, other))
        assert torch.allclose(one, two, atol=1e-6)
        known = expected(model, other, PLACES[0], PLACES[:1], MASK)
        assert not torch.allclose(one, known, atol=1e-3)


def test_what_goes_together_stands_in_the_lexicon():
    groups = held_out_collocations(TOKENIZER, 120)
    words = [tuple(TOKENIZER.vocab[i] for i in group.words) for group in groups]
    assert len(groups) == 120 and {len(one) for one in words} <= {2, 3}
    articles = [one for group, one in zip(groups, words, strict=True) if group.kind == "article"]
    assert all(article == ("an" if noun[0] in "aeiou" else "a") for article, noun, *_ in articles)
    assert any(set(one) >= {"hungry", "bread"} or set(one) >= {"sick", "medicine"} for one in words)
    known = {group.words for group in collocations_of(world.stories(400, 3, "small"), TOKENIZER)}
    assert sum(group.words in known for group in groups) > 110


def test_measured_together(models):
    groups = held_out_collocations(TOKENIZER, 2)
    for model in models:
        found = collocation_metrics(model, TOKENIZER, groups)
        mean = sum(sum(at_once(model, g.ids, g.places, MASK)) for g in groups) / len(groups)
        assert found["joint_at_once"] == pytest.approx(mean) and found["joint_in_order"] < 0
        assert 0 <= found["fits_in_order"] <= 1 and math.isfinite(found["joint_in_order"])
