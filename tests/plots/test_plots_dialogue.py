"""Figures of DIET: their numbers, the path through the tags, and text that is never markup."""

import numpy as np
import pytest

from plots.dialogue import intents, over_seconds, share_matrix, step_matrix, tag_path

HOSTILE = "<b>x</b> $y$"


def test_the_path_goes_through_the_tags():
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    fig = tag_path(["wake", HOSTILE], ["O", "B-time"], probs, [0, 1], "title")
    heat, path = fig.data
    assert np.array(heat.z).T.tolist() == probs.tolist() and list(path.y) == [0, 1]
    assert "<b>" not in str(fig.layout.xaxis.ticktext) and list(fig.layout.yaxis.ticktext) == ["O", "B-time"]


def test_steps_have_zero_in_the_middle():
    fig = step_matrix(["O", "B"], np.array([[0.5, -2.0], [1.0, 0.0]]), ("before", "behind"), "title")
    assert (fig.data[0].zmin, fig.data[0].zmax) == (-2.0, 2.0)
    assert step_matrix(["O"], np.zeros((1, 1)), ("a", "b"), "t").data[0].zmax == 1.0


def test_a_line_a_run():
    fig = over_seconds({HOSTILE: [(0.0, 0.1), (2.5, 0.8)], "b": [(1.0, 0.5)]}, ("s", "F1"), "title")
    assert [list(trace.x) for trace in fig.data] == [[0.0, 2.5], [1.0]] and "<b>" not in fig.data[0].name
    assert fig.data[0].line.color != fig.data[1].line.color and fig.data[0].marker.symbol != fig.data[1].marker.symbol


def test_shares_and_intents():
    probs = np.full((2, 2), 0.5)
    assert np.array(share_matrix(["a", "__CLS__"], probs, "t").data[0].z).tolist() == probs.tolist()
    fig = intents(["a", "b"], [0.9, 0.1], "confidence", HOSTILE)
    assert list(fig.data[0].x) == pytest.approx([0.9, 0.1]) and "<b>" not in fig.layout.title.text
