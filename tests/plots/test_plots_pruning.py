"""Figures of what is cut away: heads and neurons by worth, parts of a network, accuracy over what is gone."""

import pytest

from plots.pruning import BINS, binned, over_shares, parts, worth

WORDS = {name: name for name in ("heads", "neurons", "layer", "head", "worth", "gone")}
AXES = {name: name for name in ("x", "y", "front", "budget", "best", "after", "whole", "heads", "weights")}
FOUND = [("1-1-256", 0.5, 0.60), ("2-4-512", 1.0, 0.80), ("3-<b>-512", 1.5, 0.70), ("4-4-1024", 2.0, 0.85)]


def test_a_head_that_is_gone_is_crossed_and_a_click_on_either_mark_says_which():
    fig = worth([[0.1, 0.4], [0.2, -0.8]], [[3.0, 1.0, 2.0, 0.0]] * 2, {(1, 0)}, [4, 1], WORDS)
    squares, crosses, strips = fig.data
    assert [list(one) for one in squares.customdata] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert squares.marker.color == pytest.approx((0.125, 0.5, 0.25, -1.0)) and squares.marker.cmax == 1
    assert [list(one) for one in crosses.customdata] == [[1, 0]] and (crosses.x, crosses.y) == (("1",), ("layer 2",))
    assert strips.z[0][0] == 1.0 and strips.y[1] == "layer 2"
    lines = [shape for shape in fig.layout.shapes if shape.type == "line"]
    (veil,) = (shape for shape in fig.layout.shapes if shape.type == "rect")
    assert [line.x0 for line in lines] == [100.0, 25.0] and (veil.x0, veil.x1) == (25.0, 100)


def test_a_layer_that_is_gone_keeps_nothing():
    fig = worth([[0.0], [0.0]], [[0.0], [0.0]], {(1, 0)}, [1, 0], WORDS)
    assert [shape.x0 for shape in fig.layout.shapes if shape.type == "line"] == [100.0, 0.0]


def test_neurons_are_drawn_as_means_of_equal_shares_the_largest_first():
    assert binned([1.0, -3.0, *[0.0] * (BINS - 2)])[:3] == [3.0, 1.0, 0.0]
    assert binned([]) == [0.0] * BINS
    assert sum(binned([2.0] * (2 * BINS))) == pytest.approx(2.0 * BINS)


def test_the_best_part_within_the_budget_is_marked_and_those_that_none_beats_are_joined():
    fig = parts(FOUND, 1.2, "2-4-512", 0.9, "t <i>", AXES)
    front, marks, best, after = fig.data
    assert list(front.x) == [0.5, 1.0, 2.0] and list(front.y) == pytest.approx([60, 80, 85])
    assert list(marks.marker.symbol) == ["circle", "circle", "circle-open", "circle-open"]
    assert "3-&lt;b&gt;-512" in marks.text and fig.layout.title.text == "t &lt;i&gt;"
    assert (best.x, best.y) == ((1.0,), (80.0,)) and (after.x, after.y) == ((1.0,), (90.0,))
    assert fig.layout.shapes[0].x0 == 1.2


def test_without_a_part_that_is_fast_enough_none_is_marked():
    assert len(parts(FOUND, 0.1, "", None, "t", AXES).data) == len(parts([], 0.1, "", None, "t", AXES).data) == 2


def test_each_kind_has_a_line_after_and_open_marks_before():
    found = {"heads": {0.5: (0.7, 0.8, 0.01), 0.25: (0.75, 0.81, 0.02)}, "weights": {0.5: (0.6, 0.7, 0.0)}}
    fig = over_shares(found, 0.82, "t", AXES)
    after, before, *others = fig.data
    assert list(after.y) == pytest.approx([81, 80]) and list(before.y) == pytest.approx([75, 70])
    assert list(after.error_y.array) == pytest.approx([2, 1]) and "open" in before.marker.symbol
    assert len(others) == 2 and others[0].line.dash != after.line.dash and fig.layout.shapes[0].y0 == 82
    assert len({trace.x[-1] for trace in fig.data}) == 2  # beside each other, not one on the other
