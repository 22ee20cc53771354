"""Figures of heads hold the numbers they are given, in order, with chance and error beside them."""

import numpy as np

from plots.head_kinds import kind_scores, ranking
from plots.theme import BLUE, VERMILION


def test_scores_stand_beside_chance():
    fig = kind_scores(["a<b>", "b", "c"], [0.2, 0.7, np.nan], [0.1, 0.8, np.nan], ("head", "even"), threshold=0.4)
    bars, chance, texts = fig.data
    assert list(bars.x[:2]) == [0.2, 0.7] and list(chance.x[:2]) == [0.1, 0.8]
    assert list(bars.marker.color) == [BLUE, VERMILION, BLUE]
    assert list(texts.text) == ["20.0%", "70.0%", ""]
    assert texts.x[1] > 0.8 and 0.2 < texts.x[0] < 0.25  # beside the mark, not on it
    far = kind_scores(["a"], [0.1], [1.0], ("h", "e"), threshold=0.4).data[2].x
    assert 0.1 < far[0] < 0.15  # a mark that is far away moves no number
    assert fig.layout.yaxis.ticktext[0] == "a&lt;b&gt;"
    assert list(kind_scores(["a"], [0.3], [0.1], ("h", "e"), threshold=0.4).data[0].marker.color) == [BLUE]


def test_the_dearest_head_is_first_with_two_standard_errors():
    fig = ranking(["a", "b", "c"], [0.1, 0.5, -0.2], [0.01, 0.02, np.nan], "loss", selected=2)
    (points,) = fig.data
    assert list(points.x) == [0.5, 0.1, -0.2]
    assert [place[0] for place in points.customdata] == [1, 0, 2]
    assert list(points.error_x.array) == [0.04, 0.02, 0]
    assert fig.layout.yaxis.ticktext == ("b", "a", "<b>c</b>")
    assert points.marker.symbol[2] == "diamond"
