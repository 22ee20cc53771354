"""The figures of *What to hide*: what is drawn is what is told."""

import pytest

from plots.what_to_hide import differences, shares


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
