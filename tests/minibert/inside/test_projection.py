"""Principal components against scikit-learn's."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from minibert.inside.projection import principal_plane


def test_it_is_scikit_learns_pca():
    rng = np.random.default_rng(0)
    points, others = rng.normal(size=(12, 7)) * np.arange(1, 8), rng.normal(size=(5, 7))
    plane = principal_plane(points)
    theirs = PCA(2).fit(points)
    signs = np.sign((plane.axes * theirs.components_).sum(1))
    np.testing.assert_allclose(plane.axes, theirs.components_ * signs[:, None], atol=1e-10)
    np.testing.assert_allclose(plane.explained, theirs.explained_variance_ratio_, atol=1e-12)
    np.testing.assert_allclose(plane.project(others), theirs.transform(others) * signs, atol=1e-10)
    turned = principal_plane(points[::-1])  # the same picture whatever their order
    np.testing.assert_allclose(turned.project(points), plane.project(points), atol=1e-10)


def test_equal_points_and_too_few():
    assert principal_plane(np.ones((4, 3))).explained == (0.0, 0.0)
    with pytest.raises(ValueError, match="at least 3"):
        principal_plane(np.ones((2, 3)))
