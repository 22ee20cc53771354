"""The strongest edges hold the share that was asked for, none fewer would, and what is left out is counted."""

import pytest
import torch

from minibert.inside.heads.attention_summary import PLACES, by_place, small_copies, strongest_edges


@pytest.fixture(scope="module")
def probs():
    return (3 * torch.randn(3, 20, 20, generator=torch.Generator().manual_seed(0))).softmax(-1)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_the_fewest_edges_that_hold_the_share(probs, share):
    edges = strongest_edges(probs, share)
    assert edges.counts.sum() == len(edges.columns) == len(edges.weights)
    counts = edges.counts.flatten().tolist()
    drawn = zip(probs.flatten(0, 1), edges.columns.split(counts), edges.weights.split(counts), strict=True)
    for row, columns, weights in drawn:
        assert torch.equal(weights, row[columns])
        assert torch.equal(weights, row.sort(descending=True).values[: len(weights)])
        assert weights.sum() >= share - 1e-5 and len(weights) >= 1
        assert len(weights) == 1 or weights[:-1].sum() < share
    sums = torch.stack([weights.sum() for weights in edges.weights.split(counts)])
    torch.testing.assert_close(edges.drawn.flatten(), sums, atol=1e-6, rtol=0)
    torch.testing.assert_close(edges.hidden, torch.zeros(3, 20), atol=1e-6, rtol=0)


def test_hidden_tokens_have_no_edges_and_their_mass_is_told(probs):
    keep = torch.ones(20, dtype=torch.bool)
    keep[[0, 19]] = False
    edges = strongest_edges(probs, 0.8, keep)
    assert (edges.counts[:, ~keep] == 0).all() and not torch.isin(edges.columns, torch.tensor([0, 19])).any()
    torch.testing.assert_close(edges.hidden[:, keep], probs[:, keep][:, :, ~keep].sum(-1), atol=1e-6, rtol=0)
    assert torch.isnan(edges.hidden[:, 0]).all() and (edges.drawn[:, keep] >= 0.8 - 1e-5).all()


def test_a_picture_never_holds_more_than_it_may():
    even = torch.full((12, 100, 100), 0.01)
    edges = strongest_edges(even, 0.9, most=6_000)
    assert len(edges.weights) == 6_000 and (edges.counts == 5).all()
    assert torch.allclose(edges.drawn, torch.tensor(0.05))
    assert (strongest_edges(even, 0.9, most=10).counts == 1).all()
    nothing = strongest_edges(torch.ones(2, 1, 1), 0.9, torch.zeros(1, dtype=torch.bool))
    assert len(nothing.columns) == 0 and nothing.counts.tolist() == [[0], [0]]


def test_each_share_goes_to_the_place_it_looks_at():
    cls, sep = torch.tensor([True, False, False, False]), torch.tensor([False, False, False, True])
    probs = torch.zeros(3, 4, 4)
    probs[0, :, 3] = 1  # all to [SEP], which is neither the last token itself nor the one after the third
    probs[1, range(4), range(4)] = 1  # the diagonal: [CLS] and [SEP] count as those
    probs[2, [0, 1, 2, 3], [1, 2, 1, 2]] = 1  # after, after, before, before
    shares = {place: by_place(probs, cls, sep)[:, k].tolist() for k, place in enumerate(PLACES)}
    assert shares["sep"] == [1, 0.25, 0] and shares["cls"] == [0, 0.25, 0]
    assert shares["itself"] == [0, 0.5, 0]
    assert shares["next"] == [0, 0, 0.5] and shares["previous"] == [0, 0, 0.5]


def test_small_copies_keep_the_largest_weight():
    probs = torch.zeros(2, 2, 100, 100)
    probs[..., range(100), range(100)] = 1
    probs[0, 1, 99, 0] = 0.7
    copies = small_copies(probs, 25)
    assert copies.shape == (2, 2, 25, 25)
    assert (copies[..., range(25), range(25)] == 1).all() and copies[0, 1, 24, 0] == pytest.approx(0.7)
    assert copies.sum() == pytest.approx(4 * 25 + 0.7)
    assert small_copies(probs, 100) is probs
