"""Pictures of layers: the same for the same seed, near the one before, and honest about neighbours."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from minibert.inside.geometry.aligned_projections import movement, pictures, project, trust, turned_onto
from minibert.inside.geometry.projection import principal_plane


@pytest.fixture(scope="module")
def layers():
    """Four layers that drift apart into three groups, every second one turned round in space."""
    rng = np.random.default_rng(0)
    groups, noise = np.repeat(np.eye(3, 12), 10, axis=0), rng.normal(size=(30, 12))
    turn = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    return np.stack([(groups * step + noise * 0.3) @ (turn if step % 2 else np.eye(12)) for step in range(1, 5)])


def test_pca_is_scikit_learns_up_to_turning_and_size_and_so_is_its_trust(layers):
    first, *later = pictures(layers, "pca")
    theirs = PCA(2).fit_transform(layers[0])
    theirs /= np.sqrt((theirs**2).sum(1).mean())
    np.testing.assert_allclose(turned_onto(theirs, np.array(first.points)), first.points, atol=2e-4)
    rows, points = layers[0] / np.linalg.norm(layers[0], axis=1, keepdims=True), np.array(first.points)
    assert trust(layers[0], points) == pytest.approx(trustworthiness(rows, points, n_neighbors=5))
    assert first.trust == pytest.approx(trust(layers[0], points), abs=0.01)  # its points are rounded
    assert [one.progress for one in (first, *later)] == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_pictures_stay_in_place_and_repeat(layers, method):
    drawn, again = ([np.array(one.points) for one in pictures(layers, method, seed=3)] for _ in "ab")
    np.testing.assert_array_equal(drawn, again)
    for one in drawn:
        assert np.sqrt((one**2).sum(1).mean()) == pytest.approx(1, abs=1e-3)
    for before, now in pairwise(drawn):  # no other turn would have been nearer
        np.testing.assert_allclose(turned_onto(now, before), now, atol=2e-3)
    assert max(movement(drawn)) < 1.3


@pytest.mark.release
def test_umap_repeats_and_keeps_groups_together(layers):
    drawn, again = (list(pictures(layers[-2:], "umap", seed=1)) for _ in "ab")
    assert [picture.points for picture in again] == [picture.points for picture in drawn]
    points = np.array(drawn[-1].points)
    nearest = np.linalg.norm(points[:, None] - points[None] + np.eye(30)[..., None] * 99, axis=-1).argmin(1)
    assert (nearest // 10 == np.arange(30) // 10).mean() > 0.9


def test_turning_undoes_a_turn_and_a_mirror_and_what_cannot_be_drawn_is_said():
    points = np.random.default_rng(4).normal(size=(8, 2))
    points -= points.mean(0)
    turn = np.array([[np.cos(1.1), np.sin(1.1)], [np.sin(1.1), -np.cos(1.1)]])
    np.testing.assert_allclose(turned_onto(points @ turn, points), points, atol=1e-12)
    same = np.ones((2, 6, 4))
    for method in ("pca", "tsne"):
        assert not np.any([picture.points for picture in pictures(same, method)])
    assert not project(same[0], "umap", 0).any()
    for points, method, said in ((same[:, :4], "pca", "at least 5"), (same, "isomap", "one of pca")):
        with pytest.raises(ValueError, match=said):
            next(pictures(points, method))


def test_a_plane_is_scikit_learns_pca_and_of_equal_points_nothing():
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
    assert principal_plane(np.ones((4, 3))).explained == (0.0, 0.0)
    with pytest.raises(ValueError, match="at least 3"):
        principal_plane(np.ones((2, 3)))
