"""Figures of planted cues and of edited texts: their data."""

import pytest

from plots.checklist import FlipRate, flip_rates
from plots.cues import accuracy_over_steps, final_accuracy

TRAININGS = {"planted": "with", "balanced": "without"}
TESTS = {"planted": "as planted", "balanced": "nothing", "flipped": "flipped"}


def test_a_panel_a_training_and_a_line_a_seed():
    curves = {
        "planted": {"planted": [[(0, 0.5), (4, 1.0)], [(0, 0.4), (4, 0.9)]], "flipped": [[(0, 0.5), (4, 0.0)]]},
        "balanced": {"planted": [[(0, 0.5)]]},
    }
    fig = accuracy_over_steps(curves, TRAININGS, TESTS, 0.5, ("step", "accuracy"))
    assert [list(line.y) for line in fig.data] == [[0.5, 1.0], [0.4, 0.9], [0.5, 0.0], [0.5]]
    assert [line.showlegend for line in fig.data] == [True, False, True, False]
    assert len({line.line.dash for line in fig.data[:3]}) == 2  # told apart without colour


def test_a_bar_is_the_mean_of_its_dots():
    finals = {"planted": {"planted": [1.0, 0.8], "flipped": [0.0]}, "balanced": {"planted": [0.6]}}
    fig = final_accuracy(finals, TRAININGS, TESTS, 0.5, "accuracy")
    bars = {bar.name: list(bar.y) for bar in fig.data if bar.type == "bar"}
    assert bars["as planted"] == [pytest.approx(0.9), 0.6]
    assert bars["flipped"] == [0.0]
    others = [trace for trace in fig.data if trace.type == "scatter"]
    dots = [list(dot.y) for dot in others if dot.mode == "markers"]
    assert dots == [[1.0, 0.8, 0.6]]  # one seed needs no dot of its own
    assert [list(words.text) for words in others if words.mode == "text"] == [["90%", "60%"], ["0%"]]
    asked = [note.x for note in fig.layout.annotations]  # not measured: flipped, balanced; both tests that say nothing
    assert len(asked) == 3 and all(note.text == "<b>?</b>" for note in fig.layout.annotations)


def test_where_a_rate_should_be_is_marked():
    rows = [
        FlipRate("typo", "same", 0.2, (0.1, 0.4), "2 of 10"),
        FlipRate("negation", "change", 0.5, (0.2, 0.8), "1 of 2"),
        FlipRate("order", "open", 0.0, (0.0, 0.3), "0 of 9"),
    ]
    fig = flip_rates(rows, "flipped")
    points = [(mark.x[0], mark.y[0]) for mark in fig.data]
    assert points == [(0.2, 0), (0.0, 0), (0.5, 1), (1.0, 1), (0.0, 2)]
    assert fig.data[0].error_x.array == (pytest.approx(0.2),)
    assert fig.data[0].error_x.arrayminus == (pytest.approx(0.1),)
    assert [note.text for note in fig.layout.annotations] == ["2 of 10", "1 of 2", "0 of 9"]
