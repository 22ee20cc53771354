"""The chain against every path, gone through one by one."""

from itertools import pairwise, product

import pytest
import torch

from minibert.diet.crf import Crf

TAGS, WORDS = 3, 4


def drawn(rows=5, seed=0, scale=2.0):
    """A chain, emissions, and rows of 4, 3, 2, 1 and 0 words."""
    torch.manual_seed(seed)
    crf = Crf(TAGS).double()
    for weight in crf.parameters():
        torch.nn.init.normal_(weight, std=scale)
    lengths = torch.tensor([WORDS - i for i in range(rows)])
    return crf, torch.randn(rows, WORDS, TAGS).double() * scale, torch.arange(WORDS) < lengths[:, None]


def by_hand(crf, emissions, path):
    first, last, steps = (x.detach() for x in (crf.first, crf.last, crf.steps))
    score = first[path[0]] + last[path[-1]] + sum(emissions[t, tag] for t, tag in enumerate(path))
    return float(score + sum(steps[a, b] for a, b in pairwise(path)))


@pytest.mark.parametrize("seed", range(3))
def test_every_path(seed):
    crf, emissions, mask = drawn(seed=seed)
    best, marginals = crf.best(emissions, mask), crf.marginals(emissions, mask)
    whole = crf.log_partition(emissions, mask)
    for row, length in enumerate(mask.sum(1).tolist()):
        if not length:
            assert best[row] == [] and whole[row] == 0 and not marginals[row].any()
            continue
        paths = list(product(range(TAGS), repeat=length))
        scores = torch.tensor([by_hand(crf, emissions[row], path) for path in paths], dtype=torch.float64)
        assert float(whole[row]) == pytest.approx(float(scores.logsumexp(0)))
        assert tuple(best[row]) == paths[int(scores.argmax())]
        for t, tag in product(range(length), range(TAGS)):
            share = sum(p for path, p in zip(paths, scores.softmax(0), strict=True) if path[t] == tag)
            assert float(marginals[row, t, tag]) == pytest.approx(float(share), abs=1e-9)
        assert not marginals[row, length:].any()
        tags = torch.tensor([[*paths[0], *[-100] * (WORDS - length)]])
        one = crf(emissions[row : row + 1], tags, mask[row : row + 1])
        assert float(one.detach()) == pytest.approx(float(scores.logsumexp(0) - scores[0]) / length)


def test_the_loss_is_that_of_all_words_and_padding_counts_nothing():
    crf, emissions, mask = drawn(rows=3)
    tags = torch.zeros(3, WORDS, dtype=torch.long)
    alone = [crf(emissions[i : i + 1], tags[i : i + 1], mask[i : i + 1]) * mask[i].sum() for i in range(3)]
    assert float(crf(emissions, tags, mask)) == pytest.approx(float(sum(alone) / mask.sum()))
    other = torch.where(mask.unsqueeze(2), emissions, 99.0)
    assert torch.allclose(crf.log_partition(other, mask), crf.log_partition(emissions, mask))
    assert crf.best(other, mask) == crf.best(emissions, mask)


@torch.no_grad()
def test_far_apart_scores_stay_numbers_and_no_word_at_all_is_zero():
    crf, mask = Crf(2), torch.ones(1, 2, dtype=torch.bool)
    emissions = torch.tensor([[[500.0, -500.0], [-500.0, 500.0]]])
    crf.steps.fill_(-40.0)
    assert float(crf.log_partition(emissions, mask)) == pytest.approx(960.0)
    assert crf.best(emissions, mask) == [[0, 1]]
    nothing, mask = torch.zeros(2, 0, 2), torch.zeros(2, 0, dtype=torch.bool)
    assert crf.best(nothing, mask) == [[], []]
    assert crf.log_partition(nothing, mask).tolist() == [0, 0]
    assert crf.marginals(nothing, mask).shape == (2, 0, 2)
