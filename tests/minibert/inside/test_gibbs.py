"""A Gibbs sampler whose conditionals are the masked language model's."""

import itertools
from collections import Counter

import pytest
import torch

from minibert.config import BertConfig
from minibert.inside.predictions.gibbs import ORDERS, conditional, gibbs
from minibert.model import IGNORE, Batch
from tests.minibert.inside.random_models import random_model

MASK = 4


@pytest.fixture(scope="module")
def model():
    return random_model(BertConfig(11, 16, 2, 2, 32, max_position_embeddings=16, initializer_range=0.5))


ROW, PLACES = [2, 5, 6, 7, 8, 3], [1, 2, 3, 4]


def test_the_conditional_is_the_models_softmax_and_a_place_is_drawn_from_it(model):
    hidden = torch.tensor([[2, 5, MASK, 7, 8, 3]])
    labels = torch.full_like(hidden, IGNORE)
    labels[0, 2] = 6
    with torch.no_grad():
        wanted = model(Batch(hidden, labels=labels)).mlm_logits[0].double().log_softmax(-1)
    assert torch.allclose(conditional(model, ROW, 2, MASK), wanted)
    barred = conditional(model, ROW, 2, MASK, never={0, MASK})
    assert barred.exp().sum().item() == pytest.approx(1) and barred[MASK] == -float("inf")
    assert torch.allclose(barred[5:] - barred[5], wanted[5:] - wanted[5])
    chain = list(gibbs(model, ROW, [2], MASK, sweeps=400, seed=0, order="left_to_right"))
    drawn = Counter(draw.ids[2] for draw in chain[1:])
    assert all(count / 400 == pytest.approx(wanted[token].exp().item(), abs=0.08) for token, count in drawn.items())


@pytest.mark.parametrize("order", ORDERS)
def test_every_sweep_visits_each_place_once(model, order):
    draws = list(gibbs(model, ROW, PLACES, MASK, sweeps=2, seed=1, order=order, never={MASK}))
    assert draws[0].ids == [2, *[MASK] * 4, 3] and draws[0].place is None
    visited = [draw.place for draw in draws[1:]]
    assert sorted(visited[:4]) == sorted(visited[4:]) == PLACES
    if order == "left_to_right":
        assert visited == PLACES * 2
    for before, after in itertools.pairwise(draws):
        assert all(a == b for i, (a, b) in enumerate(zip(before.ids, after.ids, strict=True)) if i != after.place)
        assert after.ids[after.place] != MASK
    assert list(gibbs(model, ROW, PLACES, MASK, sweeps=2, seed=1, order=order, never={MASK})) == draws


def test_without_chance_it_is_the_likeliest(model):
    one = list(gibbs(model, ROW, PLACES, MASK, sweeps=1, seed=0, order="surest", temperature=0))
    for before, after in itertools.pairwise(one):
        assert after.ids[after.place] == int(conditional(model, before.ids, after.place, MASK).argmax())
        left = [place for place in PLACES if before.ids[place] == MASK]
        best = {place: conditional(model, before.ids, place, MASK).max().item() for place in left}
        assert after.place in left and best[after.place] == pytest.approx(max(best.values()))
