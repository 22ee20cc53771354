"""Figures of the input page: their data."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from plots.embeddings_sum import cosines, cost_of_length, position_similarity, summands


def test_strips_share_one_scale_around_zero():
    rows = {"token": np.array([0.1, -0.5]), "sum": np.array([0.3, 0.2])}
    (strip,) = summands(rows, "dimension").data
    assert strip.zmin == -0.5 and strip.zmax == 0.5
    np.testing.assert_array_equal(strip.z, [[0.1, -0.5], [0.3, 0.2]])
    assert list(strip.y) == ["token", "sum"]


def test_strips_of_zeros_have_a_scale():
    (strip,) = summands({"token": np.zeros(3)}, "dimension").data
    assert strip.zmin < strip.zmax


def test_cosines_are_scipys():
    table = np.random.default_rng(0).normal(size=(9, 5))
    np.testing.assert_allclose(cosines(table), 1 - cdist(table, table, "cosine"), atol=1e-12)
    learned, fixed = position_similarity(table, table[::-1], ("a", "b"), "place").data
    np.testing.assert_allclose(learned.z, cosines(table))
    np.testing.assert_allclose(fixed.z, cosines(table[::-1]))


def test_a_line_for_each_kind_of_cost():
    fig = cost_of_length([64, 128], {"explicit": [1.0, 4.0], "fused": [1.0, 2.0]}, 128, ("T", "GiB"))
    assert [(line.name, list(line.y)) for line in fig.data] == [("explicit", [1, 4]), ("fused", [1, 2])]
    assert fig.data[0].line.dash != fig.data[1].line.dash  # told apart without colour
    assert fig.layout.shapes[0].x0 == pytest.approx(128)
