"""The figures of *What to hide*: what is drawn is what is told."""

import pytest

from plots.what_to_hide import differences, learned, shares, trained_when


def test_shares_have_their_intervals():
    fig = shares({"pieces": (0.5, 0.4, 0.7), "spans": (0.2, 0.1, 0.25)}, "put right")
    (bar,) = fig.data
    assert list(bar.x) == [0.5, 0.2] and list(bar.y) == ["pieces", "spans"]
    assert list(bar.error_x.array) == pytest.approx([0.2, 0.05])
    assert list(bar.error_x.arrayminus) == pytest.approx([0.1, 0.1])


def test_tables_are_told_apart_without_colour():
    fig = differences({"one": {"A": -0.5, "B": -3.5}, "other": {"A": 0.4}}, "points")
    assert [bar.marker.pattern.shape for bar in fig.data] == ["", "/"]
    assert [list(bar.x) for bar in fig.data] == [[-0.5, -3.5], [0.4]]
    assert list(fig.data[0].y) == ["one · A", "one · B"]
    assert list(fig.data[0].text) == ["−0.5", "−3.5"]
    low, high = fig.layout.xaxis.range
    assert low < -3.5 and high > 0.4


PLANS = {"new with old": [{"a": 2}, {"a": 1, "b": 3}], "one by one": [{"a": 3}, {"b": 3}]}
TASKS = {"a": "words", "b": "order"}


def test_a_task_is_filled_in_the_stages_that_train_it():
    fig = trained_when(PLANS, TASKS, "step")
    words, order = fig.data
    assert (list(words.base), list(words.x), list(words.customdata)) == ([0, 2, 0], [2, 4, 3], [2, 1, 3])
    assert (list(order.base), list(order.x), list(order.customdata)) == ([2, 3], [4, 3], [3, 3])
    assert list(words.y) == [0, 0, 3] and list(order.y) == [1, 4] and list(fig.layout.yaxis.tickvals) == [0.5, 3.5]
    assert words.marker.pattern.shape != order.marker.pattern.shape


def test_each_regime_has_its_panel_and_its_stages():
    marks = {"new with old": {"a": [(0, 0.0), (2, 0.5)], "b": [(0, 0.2)]}, "one by one": {"a": [(0, 0.1)]}}
    fig = learned(marks, PLANS, TASKS, "step")
    assert [line.name for line in fig.data] == ["words", "order"] * 2
    assert list(fig.data[0].y) == [0.0, 0.5] and not fig.data[3].y
    assert [(shape.x0, shape.xref) for shape in fig.layout.shapes] == [(2, "x"), (3, "x2")]
    assert sum(line.showlegend for line in fig.data) == 2
