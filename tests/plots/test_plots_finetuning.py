"""Figures of fine-tuning runs: their data."""

import statistics

import pytest

from plots.finetuning import (
    Curve,
    Said,
    Scale,
    answers_over_time,
    comparison,
    learning_curves,
    mean_line,
    right_by_kind,
)

NAMES = {"pretrained": "from the checkpoint", "random": "from random weights"}
EVENTS = [
    {"event": "started"},
    {"event": "eval", "step": 0, "metrics": {"accuracy": 0.5}},
    {"event": "step", "step": 1, "loss": 0.7},
    {"event": "step", "step": 2, "loss": 0.6},
    {"event": "eval", "step": 2, "metrics": {"accuracy": 0.75}},
]


def test_a_curve_is_read_from_events():
    curve = Curve.of("random", 3, 4, "accuracy", EVENTS)
    assert curve.loss == [(0.25, 0.7), (0.5, 0.6)]
    assert curve.score == [(0.0, 0.5), (0.5, 0.75)]


def test_the_mean_goes_as_far_as_every_run():
    assert mean_line([[(1, 0.2), (2, 0.4), (3, 0.9)], [(1, 0.4), (2, 0.8)]]) == [
        (1, pytest.approx(0.3)),
        (2, pytest.approx(0.6)),
    ]


def test_several_seeds_have_a_mean_and_both_starts_differ_without_colour():
    curves = [Curve.of(start, seed, 4, "accuracy", EVENTS) for start in NAMES for seed in (0, 1)]
    fig = learning_curves(curves, NAMES, Scale("accuracy", 0.5), ("loss", "epoch"))
    lines = [trace for trace in fig.data if trace.x[0] is not None]
    assert len(lines) == 2 * (2 * 2 + 2)  # two panels; two runs and a mean for each start
    assert [trace.name for trace in fig.data if trace.showlegend] == list(NAMES.values())
    assert {trace.line.dash for trace in lines} == {"solid", "dot"}


def test_the_scale_holds_every_score_and_what_a_trivial_answer_reaches():
    low, high = Scale("accuracy", 0.25).range([0.4, 0.9])
    assert 0 < low < 0.25 and high > 1
    low, _high = Scale("Pearson", percent=False).range([-0.3])
    assert low < -0.3
    assert Scale("F1").range([])[0] < 0


def test_bars_are_means_over_runs():
    fig = right_by_kind({"pretrained": {"plain": [0.5, 0.7], "irony": [0.4]}}, NAMES, "accuracy")
    assert list(fig.data[0].y) == [pytest.approx(0.6), 0.4] and list(fig.data[0].x) == ["plain", "irony"]


def test_comparison_shows_every_seed_with_mean_and_deviation():
    values = [0.6, 0.7, 0.65]
    fig = comparison({"pretrained": values, "random": [0.5]}, NAMES, Scale("accuracy", 0.5))
    dots, mean, lone = fig.data
    assert list(dots.x) == values and list(lone.x) == [0.5]
    assert mean.x[0] == pytest.approx(statistics.fmean(values))
    assert mean.error_x.array[0] == pytest.approx(statistics.stdev(values))


def test_answers_are_drawn_by_run_and_the_last_one_is_written():
    said = [Said("run <b>1</b>", "random", [(0, "yes", 0.5), (0.5, "no", 0.7), (1, "<i>no</i>", 0.9)])]
    fig = answers_over_time(said, "how sure", "epoch")
    line = fig.data[0]
    assert list(line.y) == [0.5, 0.7, 0.9] and line.line.dash == "dot"
    assert list(line.text) == ["", "", "&lt;i&gt;no&lt;/i&gt;"]
    assert "<b>" not in line.hovertemplate and "<i>" not in line.customdata[2]


def test_scores_are_drawn_up_to_their_top():
    fig = answers_over_time([Said("run", "pretrained", [(0, "2.5", 2.5)])], "score", "epoch", 5.0)
    assert fig.layout.yaxis.range[1] > 5 and fig.data[0].text is None
