"""Figures of attributions: their data."""

import numpy as np
import pytest

from plots.attribution import agreement_matrix, deletion_curves, falls, path_and_error, word_grid

NAMES = {"integrated": "Integrated", "rollout": "Rollout", "random": "random"}


def test_each_method_is_scaled_by_its_own_largest():
    values = {"integrated": np.array([2.0, -4.0]), "rollout": np.array([0.1, 0.2])}
    fig = word_grid(["a", "<b>"], values, NAMES)
    assert np.array(fig.data[0].z) == pytest.approx(np.array([[0.5, 0.5], [-1.0, 1.0]]))
    assert fig.data[0].customdata[1][0][1] == -4.0
    assert [note.text for note in fig.layout.annotations] == ["+2.00", "+0.10", "-4.00", "+0.20"]
    assert fig.layout.yaxis.ticktext == ("a", "&lt;b&gt;")


def test_a_method_that_finds_nothing_is_drawn():
    fig = word_grid(["a"], {"integrated": np.zeros(1)}, NAMES)
    assert fig.data[0].z[0][0] == 0


def test_what_has_no_correlation_is_left_empty():
    fig = agreement_matrix(np.array([[1.0, np.nan], [np.nan, 1.0]]), ["a", "b"])
    assert [note.text for note in fig.layout.annotations] == ["1.00", "–", "–", "1.00"]


def test_random_orders_are_a_mean_and_a_band():
    random = np.array([[0.8, 0.4, 0.1], [0.8, 0.6, 0.1]])
    fig = deletion_curves({"rollout": np.array([0.8, 0.2, 0.1])}, random, NAMES, ("x", "y", "random"))
    band, mean, line = fig.data
    assert list(mean.y) == pytest.approx([0.8, 0.5, 0.1])
    spread = np.std([0.4, 0.6], ddof=1)
    assert band.y[1] == pytest.approx(0.5 + spread) and band.y[4] == pytest.approx(0.5 - spread)
    assert (line.name, list(line.y)) == ("Rollout", [0.8, 0.2, 0.1])


def test_falls_show_the_mean_and_its_standard_error():
    fig = falls({"integrated": [0.2, 0.4], "random": [0.1]}, NAMES, "fall")
    assert fig.data[1].x == (pytest.approx(0.3),)
    assert fig.data[1].error_x.array == (pytest.approx(np.std([0.2, 0.4], ddof=1) / np.sqrt(2)),)
    assert fig.data[3].error_x.array == (0.0,)


def test_the_slope_is_drawn_through_the_end_of_the_path():
    path = np.array([0.0, 3.0, 4.0])
    titles = ["left", "right", "share", "score", "steps", "error", "path", "slope"]
    fig = path_and_error(path, 1.0, (2, 4), {"rule": [0.5, 0.1]}, 4, titles)
    line, tangent, errors = fig.data
    assert list(line.x) == [0, 0.5, 1]
    assert list(tangent.y) == [3.0, 3.5, 4.0]
    assert list(errors.y) == [0.5, 0.1]
    assert fig.layout.shapes[0].x0 == 4
