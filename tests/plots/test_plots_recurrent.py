"""The figures of a recurrent reader: what is in them is what was given."""

import numpy as np

from plots.recurrent import expected_words, gates, left_of_words


def test_gates_have_means_above_and_numbers_below():
    numbers = np.array([[0.1, 0.9, 0.5], [0.2, 0.8, 0.6]])
    fig = gates(["a", "<b>"], {"in": [0.25, 0.5], "out": [1.0, 0.0]}, numbers, "3 numbers", "what it says")
    above, below = fig.data
    assert np.array_equal(np.array(above.z), [[0.25, 0.5], [1.0, 0.0]])
    assert np.array_equal(np.array(below.z), [[0.1, 0.2], [0.5, 0.6], [0.9, 0.8]])  # the most open on top
    assert below.text[0][0] == "1" and below.text[2][0] == "2"
    assert {(trace.zmin, trace.zmax) for trace in fig.data} == {(0, 1)}
    assert list(fig.layout.xaxis2.ticktext) == ["a", "&lt;b&gt;"]


def test_a_line_for_each_reader():
    fig = left_of_words(["a", "<b>"], {"one": [0.5, 1.0], "two": [0.0, 0.2]}, ("word", "left"), "what it says")
    assert {trace.name: list(trace.y) for trace in fig.data} == {"one": [0.5, 1.0], "two": [0.0, 0.2]}
    assert len({(trace.line.dash, trace.marker.symbol) for trace in fig.data}) == 2


def test_a_guess_that_is_right_is_marked():
    columns = {"left": ([0.2, 0.9], ["a", "<b>"]), "both": ([0.5, 0.1], ["x", "y"])}
    fig = expected_words(["a", "<b>"], columns, "word", "what it says")
    assert np.array_equal(np.array(fig.data[0].z), [[0.2, 0.5], [0.9, 0.1]])
    assert (fig.data[0].zmin, fig.data[0].zmax) == (0, 1)
    texts = [note.text for note in fig.layout.annotations]
    assert texts == ["<b>a · 20% ✓</b>", "x · 50%", "<b>&lt;b&gt; · 90% ✓</b>", "y · 10%"]
