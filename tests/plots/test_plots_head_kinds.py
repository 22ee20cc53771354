"""Figures of heads hold the numbers they are given, in order, with chance and error beside them."""

import numpy as np

from plots.head_kinds import FoundWord, found_words, kind_scores, ranking
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


def test_of_many_heads_the_two_ends_are_ranked_and_the_chosen_one():
    names, costs = [f"h{i}" for i in range(20)], np.linspace(1, 0, 20)
    drawn = [place[0] for place in ranking(names, costs, np.zeros(20), "loss", selected=10, most=8).data[0].customdata]
    assert drawn == [0, 1, 2, 3, 4, 5, 10, 18, 19]
    at_an_end = ranking(names, costs, np.zeros(20), "loss", selected=19, most=8)
    assert len(at_an_end.data[0].x) == 8 and at_an_end.layout.yaxis.ticktext[-1] == "<b>h19</b>"
    assert len(ranking(names, costs, np.zeros(20), "loss", most=20).data[0].x) == 20


def test_a_found_word_is_a_line_from_the_rule_to_the_head():
    ours = [FoundWord("3.1", 0.9, 0.5), FoundWord("1.2<b>", 0.4, 0.6)]
    fig = found_words(["a<b>", "b"], ours, [FoundWord("8.10", 0.8, 0.4), None], ("ours", "theirs", "rule"), selected=1)
    lines, points, texts, their_lines, their_points, _their_texts, rules, anywhere = fig.data
    assert list(lines.x) == [0.5, 0.9, None, 0.6, 0.4, None] and list(points.x) == [0.9, 0.4]
    assert list(their_points.x) == [0.8] and list(their_lines.x) == [0.4, 0.8, None]
    assert [row[0] for row in points.customdata] == [0, 1] and [row[0] for row in their_points.customdata] == [0]
    assert list(rules.x) == [0.5, 0.6, 0.4] and [row[0] for row in rules.customdata] == [0, 1, 0]
    assert list(texts.text) == ["90% · 3.1", "40% · 1.2&lt;b&gt;"]
    assert all(row[0] == y for row, y in zip(anywhere.customdata, anywhere.y, strict=True)) and max(anywhere.x) > 1.2
    assert texts.x[0] > 0.9 and texts.x[1] > 0.6  # to the right of both marks
    assert fig.layout.yaxis.ticktext[0] == "a&lt;b&gt;"
    assert (fig.layout.shapes[0].y0, fig.layout.shapes[0].y1) == (0.5, 1.5)
