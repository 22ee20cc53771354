"""A plane in which an angle is true, and words by how often they stand in a text."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from minibert.sentence_vectors.anisotropy import plane, word_norms


@pytest.mark.parametrize("width", [2, 3, 40])
def test_the_angle_of_the_two_is_the_true_one_and_nothing_leaves_the_circle(width):
    rng = np.random.default_rng(width)
    vectors, a, b = rng.normal(size=(30, width)) + 2, rng.normal(size=width), rng.normal(size=width)
    laid = plane(vectors, a, b)
    assert laid.shape == (32, 2)
    assert np.allclose(np.linalg.norm(laid[-2:], axis=1), 1) and (np.linalg.norm(laid, axis=1) <= 1 + 1e-9).all()
    assert laid[-2] @ laid[-1] == pytest.approx(cosine_similarity([a], [b])[0, 0])
    assert laid[-2, 1] == pytest.approx(laid[-1, 1]) and laid[-1, 1] > 0  # half way between them is up
    assert np.allclose(laid[:-2] @ laid[-2], cosine_similarity(vectors, [a])[:, 0])  # cosines with a are true, too


@pytest.mark.parametrize("factor", [1.0, 3.0, -1.0])
def test_two_that_point_the_same_way_or_oppositely_still_lie_in_a_plane(factor):
    rng = np.random.default_rng(1)
    vectors, a = rng.normal(size=(20, 6)), rng.normal(size=6)
    laid = plane(vectors, a, factor * a)
    assert np.isfinite(laid).all() and laid[-2] @ laid[-1] == pytest.approx(np.sign(factor))
    assert np.linalg.matrix_rank(laid) == 2
    assert np.isfinite(plane(np.empty((0, 6)), a, a)).all()


def test_words_stand_in_bands_of_their_frequency(loaded):
    bert, tokenizer = loaded[0].bert, loaded[1]
    bands = word_norms(bert, tokenizer, ["a" + " b" * 9 + " c" * 5 + " d e f"], (1, 3))
    assert [(band.first, band.last) for band in bands] == [(1, 2), (3, 6)]
    assert bands[0].examples == ("b", "c")
    table = bert.embeddings.token.weight.detach().numpy()
    ids = [tokenizer.ids[name] for name in bands[0].examples]
    assert bands[0].norm == pytest.approx(np.linalg.norm(table[ids], axis=1).mean(), rel=1e-5)
    assert bands[0].cosine == pytest.approx(cosine_similarity(table[ids])[0, 1], abs=1e-5)
    assert word_norms(bert, tokenizer, ["a"], (1, 3)) == []
