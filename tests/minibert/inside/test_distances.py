"""What NEZHA hears of distances: against the formulas and the model's own taps."""

import math
from itertools import product

import pytest
import torch

from minibert.inside.relatives.distances import clipped, expected, heard, score
from minibert.model import Batch, BertForPreTraining
from minibert.relatives import build
from minibert.relatives.nezha import NezhaConfig
from minibert.text.position_vectors import sinusoids
from tests.minibert.inside.random_models import random_model

CONFIG = NezhaConfig(40, 12, 2, 2, 24, 40, max_relative_position=5, initializer_range=0.3)
IDS = [2, 11, 30, 7, 25, 19, 8, 33, 14, 3]


@pytest.fixture(scope="module")
def model():
    return random_model(CONFIG)


@pytest.mark.parametrize("furthest", [5, 2])
def test_what_a_head_hears_by_hand(model, furthest):
    one = heard(model, IDS, 0, 1, furthest)
    table = sinusoids(11, 6)
    attention = model.bert.blocks[0].attn
    x = model.bert.embeddings(torch.tensor([IDS]))
    q, k = (attention.split(part(x))[0, 1].detach() for part in (attention.query, attention.key))
    for i, j in product(range(len(IDS)), repeat=2):
        far = max(-furthest, min(furthest, j - i))
        added, score = q[i] @ table[far + 5] / math.sqrt(6), q[i] @ (k[j] + table[far + 5]) / math.sqrt(6)
        assert one.distance[i, j] == far and torch.equal(one.vectors[i, j], table[far + 5])
        assert one.by_distance[i, j].item() == pytest.approx(added.item(), abs=1e-5)
        assert one.scores[i, j].item() == pytest.approx(score.item(), abs=1e-5)


def test_a_smaller_clip_is_the_model_with_that_clip_and_its_own_changes_nothing(model):
    """Distances of 3 and more are heard as 3: the table of a model with ±3, two rows further in."""
    own = expected(model, IDS, 4, 4)
    with torch.no_grad():
        logits = model(Batch(torch.tensor([[*IDS[:4], 4, *IDS[5:]]]))).mlm_logits[0, 4]
    assert torch.allclose(own, logits.softmax(-1), atol=1e-6)
    assert torch.allclose(expected(model, IDS, 4, 4, 5), own, atol=1e-6)
    assert clipped(3, 1).tolist() == [[0, 1, 1], [-1, 0, 1], [-1, -1, 0]]
    smaller = build(CONFIG.change(max_relative_position=3), BertForPreTraining).eval()
    smaller.load_state_dict(model.state_dict())
    for block in smaller.bert.blocks:
        block.attn.sinusoids = sinusoids(11, 6)[2:9]
    assert torch.allclose(expected(model, IDS, 4, 4, 3), expected(smaller, IDS, 4, 4), atol=1e-6)
    assert not torch.allclose(expected(model, IDS, 4, 4, 3), own, atol=1e-4)


def test_the_first_layers_scores_do_not_know_what_stands_in_front(model):
    front = [9, 21, 5, 17, 6, 28, 31]
    moved = [IDS[0], *front, *IDS[1:]]
    for pair in ((3, 4), (5, 1), (8, 2)):
        far = (pair[0] + len(front), pair[1] + len(front))
        assert score(model, IDS, 0, 1, pair) == pytest.approx(score(model, moved, 0, 1, far), abs=1e-6)
    assert score(model, IDS, 1, 1, (3, 4)) != pytest.approx(score(model, moved, 1, 1, (10, 11)), abs=1e-5)
