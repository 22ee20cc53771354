"""Figures of pre-training: their data."""

from itertools import combinations

import numpy as np
import pytest

from plots import pretraining
from plots.pretraining import CurvePanel, History

STEP = {"event": "step", "lr": 1e-3, "tokens_per_second": 9.0}
PARTS = {"mlm_loss": 5.5, "nsp_loss": 0.5}
EVENTS = [
    {"event": "started"},
    {"event": "eval", "step": 0, "metrics": {"determined": 0.1}},
    {**STEP, "step": 10, "seconds": 2.0, "tokens": 500, "loss": 6.0, "parts": PARTS},
    {"event": "sample", "step": 10, "answers": []},
    {**STEP, "step": 20, "seconds": 4.0, "tokens": 990, "loss": 5.0, "parts": PARTS | {"mlm_loss": 4.5}},
    {"event": "eval", "step": 20, "metrics": {"determined": 0.4}},
]
PANELS = [
    CurvePanel("MLM loss", "mlm_loss", None, {"ln V": 5.7}),
    CurvePanel("right", None, "held out: determined", percent=True),
]


def test_a_history_is_read_from_events_and_a_measurement_stands_where_training_was():
    history = History.of("mine", EVENTS)
    assert history.points["mlm_loss"] == [((10, 2.0, 500), 5.5), ((20, 4.0, 990), 4.5)]
    assert history.points["held out: determined"] == [((0.0, 0.0, 0.0), 0.1), ((20, 4.0, 990), 0.4)]
    assert history.last("nsp_loss") == 0.5 and history.last("nsp_accuracy") is None


def test_a_new_schedule_is_a_restart_and_the_end_of_one_is_none():
    rates = (1e-4, 1e-3, 5e-4, 1e-6, 4e-5, 1e-3, 1e-6)  # warm-up, decay; and once more
    history = History.of("mine", ({**EVENTS[2], "step": n, "lr": rate} for n, rate in enumerate(rates)))
    assert [at[0] for at in history.restarts] == [3]
    fig = pretraining.learning_curves([history], PANELS[:1], "step", "steps")
    assert 3 in [shape.x0 for shape in fig.layout.shapes]


@pytest.mark.parametrize(("axis", "xs"), [("step", (10, 20)), ("seconds", (2.0, 4.0)), ("tokens", (500, 990))])
def test_curves_lie_over_the_axis_asked_for(axis, xs):
    fig = pretraining.learning_curves([History.of("mine", EVENTS)], PANELS, axis, "words")
    lines = [trace for trace in fig.data if trace.x[0] is not None]
    assert [tuple(trace.x) for trace in lines] == [xs, (0.0, xs[1])] and tuple(lines[0].y) == (5.5, 4.5)
    assert [shape.y0 for shape in fig.layout.shapes] == [5.7]
    assert "ln V" in [note.text for note in fig.layout.annotations]


def test_two_runs_differ_without_colour_and_a_quantity_one_lacks_is_left_out():
    fig = pretraining.learning_curves([History.of("a", EVENTS), History.of("b", EVENTS[:4])], PANELS, "step", "steps")
    legend = [trace for trace in fig.data if trace.showlegend is not False]
    assert [trace.name for trace in legend] == ["a", "b"] and fig.layout.showlegend
    assert len({trace.line.dash for trace in legend}) == len({trace.marker.symbol for trace in legend}) == 2
    assert not pretraining.learning_curves([History.of("a", EVENTS[:1])], PANELS, "step", "steps").data[0].x[0]


def test_kinds_stand_in_the_order_of_the_first_run_and_answers_are_drawn_at_every_step():
    fig = pretraining.right_by_kind({"a": {"name": 0.9, "gender": 0.2}, "b": {"name": 0.5}}, "right")
    assert fig.data[0].y == ("gender", "name") and fig.data[0].x == (0.2, 0.9)
    assert fig.data[1].x == (None, 0.5) and fig.data[1].text == ("", "50%")
    fig = pretraining.answers_over_steps(["0", "5", "end"], {"five": [0.1, 0.2, 0.9]}, 1, ("step", "probability"))
    assert fig.data[0].y == (0.1, 0.2, 0.9) and fig.layout.shapes[0].x0 == 1
    assert fig.layout.xaxis.ticktext == ("0", "5", "end")


def test_the_map_keeps_its_axes_from_step_to_step_and_shows_the_way():
    places = np.arange(18.0).reshape(3, 3, 2)
    first, last = (pretraining.word_map(["a", "b", "c"], places, at, ("x", "y"), name_start="0") for at in (0, 2))
    assert first.layout.xaxis.range == last.layout.xaxis.range and first.layout.yaxis.range == last.layout.yaxis.range
    assert first.layout.xaxis.range[0] < 0 and first.layout.xaxis.range[1] > 16
    ways = [0, 6, 12, np.nan, 2, 8, 14, np.nan, 4, 10, 16, np.nan]
    assert np.array_equal(last.data[0].x, ways, equal_nan=True) and list(last.data[-1].x) == [12, 14, 16]
    assert [note.text for note in last.layout.annotations] == ["a", "b", "c"]


def test_labels_of_points_that_lie_together_do_not_cover_each_other():
    points = np.array([[200.0, 200.0]] * 6 + [[395.0, 425.0]])
    middles = points + np.array(pretraining.free_places(points, [4] * 7))
    half = (pretraining.LETTER * 4 + 4) / 2
    assert all(half <= x <= pretraining.MAP_SIZE[0] - half for x, _y in middles)
    for one, other in combinations(middles, 2):
        across, up = abs(one - other)
        assert across >= 2 * half - 1e-9 or up >= pretraining.LINE - 1e-9
