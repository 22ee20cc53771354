"""What UniLM writes: remembering changes no probability, a search finds nothing worse than greed, draws follow P."""

import itertools
from collections import Counter

import pytest
import torch

from minibert.inside.predictions.writing import READS, Rules, beam, expected, greedy, greedy_anew, samples, step
from minibert.relatives.unilm import UnilmConfig
from tests.minibert.inside.random_models import random_model

MASK, SEP = 4, 3
SOURCE = [2, 9, 7, 5, 8, SEP]
MASKS = pytest.mark.parametrize("mask", [READS, "left_to_right"])


def writer(vocab_size: int = 12, seed: int = 0):
    return random_model(UnilmConfig(vocab_size, 16, 2, 2, 32, 32, initializer_range=0.5), seed=seed)


def rules(mask: str = READS, most: int = 6) -> Rules:
    return Rules(MASK, {SEP}, {0, 1, 2, SEP, MASK}, most, mask)


@MASKS
def test_with_and_without_memory_it_expects_the_same(mask):
    model, some = writer(), rules(mask)
    log_probs, memory = some.first(model, SOURCE)
    written = [5, 11, 6, 6]
    for n in range(5):
        assert torch.allclose(log_probs[0], expected(model, SOURCE, written[:n], MASK, mask), atol=1e-5)
        assert log_probs[0].exp().sum().item() == pytest.approx(1)
        assert len(memory.segments) == len(SOURCE) + n  # no [MASK] is remembered
        if n < 4:
            log_probs, memory = some.next(model, [written[n]], memory)
    _, memory = some.first(model, SOURCE)
    both, _ = some.next(model, [5, 9], memory.rows(torch.tensor([0, 0])))  # several rows at once
    for row, token in zip(both, (5, 9), strict=True):
        assert torch.allclose(row, expected(model, SOURCE, [token], MASK, mask), atol=1e-5)
    alone, _ = step(model, torch.tensor([SOURCE]), [4] * 6 + [5], None, MASK)
    assert torch.allclose(alone[0], expected(model, SOURCE, [], MASK), atol=1e-5)


@MASKS
@pytest.mark.parametrize("seed", range(3))
def test_a_search_finds_nothing_worse_than_greed(mask, seed):
    model = writer(seed=seed)
    alone, anew = (way(model, SOURCE, rules(mask)) for way in (greedy, greedy_anew))
    assert (alone.ids, alone.ended) == (anew.ids, anew.ended) and alone.score == pytest.approx(anew.score, abs=1e-4)
    found = beam(model, SOURCE, rules(mask), width=8)
    scores = [text.score for text in found if text.ended]
    assert scores == sorted(scores, reverse=True)
    assert max(text.score for text in found) >= alone.score - 1e-4  # another batch, another rounding
    assert all(token not in (0, 1, 2, MASK) for text in found for token in text.ids)


def test_a_search_that_is_wide_enough_is_exact():
    model, some = writer(vocab_size=8), rules(most=3)
    source, letters = [2, 7, 7, 5, 6, SEP], [5, 6, 7]
    texts = [[*words, SEP] for length in range(3) for words in itertools.product(letters, repeat=length)]
    best = max(sum(expected(model, source, ids[:n], MASK)[ids[n]].item() for n in range(len(ids))) for ids in texts)
    found = [text for text in beam(model, source, some, width=100) if text.ended]
    assert found[0].score == pytest.approx(best, abs=1e-5)


def test_tokens_are_drawn_by_their_probability():
    model, some = writer(), rules(most=1)
    drawn = Counter(text.ids[0] for text in samples(model, SOURCE, some, range(400)))
    shares = some.allowed(expected(model, SOURCE, [], MASK)).softmax(0)
    assert all(count / 400 == pytest.approx(shares[token].item(), abs=0.08) for token, count in drawn.items())
    alone = [samples(model, SOURCE, rules(), [seed])[0].ids for seed in range(8)]
    assert [text.ids for text in samples(model, SOURCE, rules(), range(8))] == alone  # of different lengths
    for surely in ({"top": 1}, {"temperature": 1e-3}):
        assert samples(model, SOURCE, rules(), [3], **surely)[0].ids == greedy(model, SOURCE, rules()).ids
    none = Rules(MASK, set(), {SEP}, 100)
    assert len(greedy(model, SOURCE, none).ids) == len(samples(model, SOURCE, none, [0])[0].ids) == 32 - len(SOURCE)
    assert greedy(model, [5] * 32, none).ids == []  # it stops where there is no room
