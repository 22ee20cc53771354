"""Whitening: against scikit-learn's PCA, and by what must hold of what comes out."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from minibert.sentence_vectors.whitening import Whitening


@pytest.fixture(scope="module")
def cone():
    """Far from the origin, and longer in some directions than in others."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, 12)) @ rng.normal(size=(12, 12)) + 20 * rng.normal(size=12)


@pytest.mark.parametrize("dimensions", [None, 5, 1])
def test_it_is_sklearns_pca_up_to_the_sign_of_a_direction(cone, dimensions):
    ours = Whitening.fit(cone, dimensions)(cone)
    theirs = PCA(dimensions or 12, whiten=True, svd_solver="full").fit_transform(cone)
    signs = np.sign((ours * theirs).sum(0))
    assert np.allclose(ours * signs, theirs, atol=1e-8)
    assert np.allclose(np.cov(ours.T), np.eye(dimensions or 12), atol=1e-9)


def test_the_first_columns_are_a_fit_with_fewer(cone):
    whole, few = Whitening.fit(cone), Whitening.fit(cone, 4)
    assert np.array_equal(whole.first(4).matrix, few.matrix) and whole.first(4).dimensions == 4
    assert np.allclose(whole(cone)[:, :4], few(cone))
    for dimensions in (0, 13):
        with pytest.raises(ValueError, match="from 1 to"):
            whole.first(dimensions)


def test_fewer_sentences_than_numbers_span_one_direction_less_and_lie_all_equally_far_apart(cone):
    """The trap: whitened by themselves alone, N sentences become the corners of a regular simplex."""
    whitening = Whitening.fit(cone[:6])
    assert whitening.dimensions == 5
    out = whitening(cone[:6])
    out = out / np.linalg.norm(out, axis=1, keepdims=True)
    assert np.allclose((out @ out.T)[~np.eye(6, dtype=bool)], -1 / 5)


@pytest.mark.parametrize(
    ("change", "dimensions", "why"),
    [
        (lambda x: x[:1], None, "two"),
        (lambda x: x[0], None, "two"),
        (lambda x: x[:6], 6, "5 directions"),
        (lambda x: x, 0, "0"),
        (lambda x: x, 13, "13"),
        (lambda x: x[[0, 0, 0]], None, "0 directions"),
        (lambda x: x * np.nan, None, "finite"),
    ],
)
def test_what_cannot_be_whitened_is_said(cone, change, dimensions, why):
    with pytest.raises(ValueError, match=why):
        Whitening.fit(change(cone), dimensions)
