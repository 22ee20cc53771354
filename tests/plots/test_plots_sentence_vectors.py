"""Figures of sentence vectors: their numbers, the frame round the closest pair, and text that is never markup."""

import numpy as np
import pytest

from plots import sentence_vectors
from plots.sentence_vectors import Agreement, CosineMatrix
from plots.theme import BLUE, GREY

VALUES = np.array([[1, 0.25, -0.07], [0.25, 1, 0.5], [-0.07, 0.5, 1]])


def test_every_pair_is_drawn_on_one_scale_and_none_with_itself():
    panel = CosineMatrix(("a model", "two at random: 0.10"), VALUES, (1, 2))
    fig = sentence_vectors.cosine_matrix_of(panel, ["one", "two", "three"], "sentence")
    (trace,) = fig.data
    np.testing.assert_array_equal(np.array(trace.z, float), np.where(np.eye(3), np.nan, VALUES))
    assert list(trace.text[0]) == ["", ".25", "−.07"] and (trace.zmin, trace.zmax) == (-1, 1)
    corners = [(shape.x0, shape.y0) for shape in fig.layout.shapes]
    assert corners == [(1.5, 0.5), (0.5, 1.5)]  # round the closest pair
    ticks = fig.layout.yaxis.ticktext
    assert ticks[0] == "one <b>1</b>" and ticks[2].endswith(" <b>3</b>")


def test_a_long_sentence_takes_three_lines():
    lines = sentence_vectors.in_lines
    assert lines("a word and " * 20).count("<br>") == 2 and lines("a word and " * 20).endswith("…")
    assert lines("x" * 500).count("<br>") <= 2 and lines("") == ""
    assert lines("我喜欢自然语言处理，你呢？我也喜欢。").count("<br>") == 2


def test_the_best_model_stands_on_top_with_its_interval():
    rows = [Agreement("a", 0.2, 0.1, 0.3), Agreement("<i>b</i>", 0.7, 0.6, 0.75, marked=True)]
    fig = sentence_vectors.agreements(rows, "title", "axis")
    assert [trace.x[0] for trace in fig.data] == [0.2, 0.7]
    spread = fig.data[1].error_x
    assert (spread.array[0], spread.arrayminus[0]) == pytest.approx((0.05, 0.1))
    assert [note.text for note in fig.layout.annotations] == ["<b>0.20</b>", "<b>0.70</b>"]
    assert "<i>" not in fig.layout.yaxis.ticktext[1] and fig.layout.yaxis.ticktext[1].startswith("<b>")


def test_what_is_found_is_drawn_nearest_first_and_as_it_reads():
    found = [("<b>a</b> & c", 0.9, True), ("问" * 50, 0.5, False), ("x", -0.2, False)]
    fig = sentence_vectors.nearest_bars([sentence_vectors.SearchHit(*one) for one in found], "t", "cosine")
    assert [trace.x[0] for trace in fig.data] == [0.9, 0.5, 0.0]
    assert [trace.marker.color for trace in fig.data] == [BLUE, GREY, GREY]
    words = [note.text for note in fig.layout.annotations]
    assert "&lt;b&gt;" in words[0] and words[1].count("问") == 30 and words[1].endswith("…")
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]  # the first on top


def test_a_runs_way_over_the_plane_and_what_is_learned_from_and_held_out_look_apart():
    marks = [(0, {"alignment": 0.2, "uniformity": -1.0}), (5, {}), (9, {"alignment": 0.4, "uniformity": -3.0})]
    fig = sentence_vectors.plane({"one": marks, "two": marks[:1]}, ("uniformity", "alignment"), "t", "step")
    first, second = fig.data
    assert (first.x, first.y, first.customdata) == ((-1.0, -3.0), (0.2, 0.4), (0, 9))
    assert first.marker.symbol != second.marker.symbol and first.line.dash != second.line.dash
    assert first.marker.size[-1] > first.marker.size[0]
    values = ((0, 0.2, 6, 6.1), (10, 0.5, 5, 1))
    runs = {"one": [(step, {"found": f, "nats": n, "nats_learned": m}) for step, f, n, m in values]}
    runs["finds"] = [(0, {"found": 0.1})]
    fig = sentence_vectors.found_and_written(runs, ("found", "written"), ("in", "out"), "title", "step")
    assert list(fig.data[0].y) == [0.2, 0.5]
    assert [(list(trace.y), trace.line.dash) for trace in fig.data[1:3]] == [([6.1, 1], "dot"), ([6, 5], "solid")]
