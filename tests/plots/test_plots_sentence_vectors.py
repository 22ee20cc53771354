"""Figures of sentence vectors: their numbers, the frame round the closest pair, and text that is never markup."""

import numpy as np
import pytest

from plots.sentence_vectors import (
    Agreement,
    CosineMatrix,
    Found,
    agreements,
    cosine_matrices,
    found_and_written,
    in_lines,
    nearest_bars,
    plane,
)
from plots.theme import BLUE, GREY

VALUES = np.array([[1, 0.25, -0.07], [0.25, 1, 0.5], [-0.07, 0.5, 1]])


def matrices(count: int = 2):
    panels = [CosineMatrix((f"model {n}", "two at random: 0.10"), VALUES, (1, 2)) for n in range(count)]
    return cosine_matrices(panels, ["one", "two", "<b>three</b>"], "Closest in both: 2 and 3", "sentence")


def test_every_pair_is_drawn_on_one_scale_and_none_with_itself():
    fig = matrices()
    assert len(fig.data) == 2
    for trace in fig.data:
        assert trace.coloraxis == "coloraxis"
        values = np.array(trace.z, float)
        assert np.isnan(np.diag(values)).all()
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_array_equal(values[off], VALUES[off])
        assert list(trace.text[0]) == ["", "0.25", "−0.07"]
    assert (fig.layout.coloraxis.cmin, fig.layout.coloraxis.cmax) == (-1, 1)


@pytest.mark.parametrize("count", [1, 2])
def test_the_closest_pair_is_framed_on_both_sides(count):
    corners = [(shape.x0, shape.y0) for shape in matrices(count).layout.shapes]
    assert corners == [(1.5, 0.5), (0.5, 1.5)] * count


def test_rows_are_numbered_and_sentences_are_no_markup():
    ticks = matrices().layout.yaxis.ticktext
    assert ticks[0] == "one <b>1</b>"
    assert "<b>three" not in ticks[2] and ticks[2].endswith(" <b>3</b>")


def test_a_long_sentence_takes_two_lines():
    assert in_lines("a word and " * 20).count("<br>") == 1
    assert in_lines("a word and " * 20).endswith("…")
    assert in_lines("x" * 500).count("<br>") <= 1
    assert in_lines("我喜欢自然语言处理，你呢？我也喜欢。").count("<br>") == 1
    assert in_lines("") == ""


def test_the_best_model_stands_on_top_with_its_interval():
    rows = [Agreement("a", 0.2, 0.1, 0.3), Agreement("<i>b</i>", 0.7, 0.6, 0.75, marked=True)]
    fig = agreements(rows, "title", "axis")
    assert [trace.x[0] for trace in fig.data] == [0.2, 0.7]
    spread = fig.data[1].error_x
    assert (spread.array[0], spread.arrayminus[0]) == pytest.approx((0.05, 0.1))
    assert [note.text for note in fig.layout.annotations] == ["<b>0.20</b>", "<b>0.70</b>"]
    assert "<i>" not in fig.layout.yaxis.ticktext[1] and fig.layout.yaxis.ticktext[1].startswith("<b>")


def test_what_is_found_is_drawn_nearest_first_and_as_it_reads():
    rows = [Found("<b>a</b> & c", 0.9, True), Found("问" * 50, 0.5, False), Found("x", -0.2, False)]
    fig = nearest_bars(rows, "<i>t</i>", "cosine", 100)
    assert [trace.x[0] for trace in fig.data] == [0.9, 0.5, 0.0]
    assert [trace.marker.color for trace in fig.data] == [BLUE, GREY, GREY]
    words = [note.text for note in fig.layout.annotations]
    assert "<b>a</b>" not in words[0].replace("<b>0.90</b>", "") and "&lt;b&gt;" in words[0]
    assert words[1].count("问") == 29 and words[1].endswith("…")
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]  # the first on top
    assert "<i>" not in fig.layout.title.text


def test_a_runs_way_over_the_plane():
    marks = [
        (0, {"alignment": 0.2, "uniformity": -1.0}),
        (5, {"found": 0.5}),
        (9, {"alignment": 0.4, "uniformity": -3.0}),
    ]
    fig = plane({"one": marks, "two": marks[:1]}, ("uniformity", "alignment"), "t", "step")
    first, second = fig.data
    assert (first.x, first.y, first.customdata) == ((-1.0, -3.0), (0.2, 0.4), (0, 9))
    assert first.marker.symbol != second.marker.symbol and first.line.dash != second.line.dash
    assert first.marker.size[-1] > first.marker.size[0]


def test_what_is_learned_from_and_held_out_look_apart():
    marks = [
        (step, {"found": f, "nats": n, "nats_learned": m}) for step, f, n, m in ((0, 0.2, 6, 6.1), (10, 0.5, 5, 1))
    ]
    runs = {"<b>one</b>": marks, "finds": [(0, {"found": 0.1})]}
    fig = found_and_written(runs, ("found", "written"), ("in", "out"), "title", "step")
    assert list(fig.data[0].y) == [0.2, 0.5] and "<b>" not in fig.data[0].name
    assert [(list(trace.y), trace.line.dash) for trace in fig.data[1:3]] == [([6.1, 1], "dot"), ([6, 5], "solid")]
