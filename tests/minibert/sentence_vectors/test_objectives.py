"""Sentence-BERT's objectives, SimCSE's and the two measures, against their formulas worked by hand."""

import math

import pytest
import torch

from minibert.sentence_vectors import objectives

U, V = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[4.0, 3.0], [0.0, 2.0]])


def test_a_class_is_told_from_both_vectors_and_their_distance():
    assert objectives.class_features(U, V).tolist() == [[3, 4, 4, 3, 1, 1], [1, 0, 0, 2, 1, 2]]


def test_cosine_regression_by_hand():
    # cosines: (12 + 12) / 25 = 0.96 and 0
    assert objectives.cosine_loss(U, V, torch.tensor([1.0, 0.5])).item() == pytest.approx((0.04**2 + 0.5**2) / 2)


def test_triplets_by_hand():
    a, p, n = torch.zeros(2, 2), torch.tensor([[3.0, 4.0], [0.0, 1.0]]), torch.tensor([[0.0, 2.0], [0.0, 9.0]])
    assert objectives.triplet_loss(a, p, n).item() == pytest.approx(
        (5 - 2 + 1 + 0) / 2
    )  # the second is far enough: 1 − 9 + 1 < 0
    assert objectives.triplet_loss(a, p, n, margin=10.0).item() == pytest.approx((13 + 2) / 2)


@pytest.mark.parametrize("hard", [True, False])
def test_the_contrastive_loss_is_sentence_transformers(hard):
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    torch.manual_seed(4)
    a, p, *n = torch.randn(2 + hard, 7, 5)
    theirs = MultipleNegativesRankingLoss(None, scale=20.0).compute_loss_from_embeddings([a, p, *n], None)
    assert objectives.contrastive_loss(a, p, 1 / 20, *n).item() == pytest.approx(theirs.item(), rel=1e-5)


def test_alignment_and_uniformity_by_hand():
    # at length 1, ‖u − v‖² = 2 − 2 cos
    assert objectives.alignment(U, V).item() == pytest.approx((0.08 + 2) / 2, abs=1e-6)
    x = torch.tensor([[1.0, 0.0], [0.0, 5.0], [-2.0, 0.0]])
    expected = math.log((math.exp(-4) + math.exp(-8) + math.exp(-4)) / 3)
    assert objectives.uniformity(x).item() == pytest.approx(expected, rel=1e-5)
    one = torch.ones(4, 3)  # what has fallen into one is aligned and not uniform
    assert objectives.alignment(one, one).item() == 0 and objectives.uniformity(one).item() == pytest.approx(
        0, abs=1e-6
    )
