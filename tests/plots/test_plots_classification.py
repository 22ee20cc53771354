"""Figures of fine-tuning runs: their data."""

import statistics

import pytest

from plots.classification import (
    Curve,
    accuracy_by_kind,
    answers_over_time,
    comparison,
    confusion,
    learning_curves,
    mean_line,
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
    curve = Curve.of("random", 3, 4, EVENTS)
    assert curve.loss == [(0.25, 0.7), (0.5, 0.6)]
    assert curve.accuracy == [(0.0, 0.5), (0.5, 0.75)]


def test_the_mean_goes_as_far_as_every_run():
    assert mean_line([[(1, 0.2), (2, 0.4), (3, 0.9)], [(1, 0.4), (2, 0.8)]]) == [
        (1, pytest.approx(0.3)),
        (2, pytest.approx(0.6)),
    ]


def test_several_seeds_have_a_mean_and_both_starts_differ_without_colour():
    curves = [Curve.of(start, seed, 4, EVENTS) for start in NAMES for seed in (0, 1)]
    fig = learning_curves(curves, NAMES, 0.5, ("loss", "accuracy", "epoch"))
    lines = [trace for trace in fig.data if trace.x[0] is not None]
    assert len(lines) == 2 * (2 * 2 + 2)  # two panels; two runs and a mean for each start
    assert [trace.name for trace in fig.data if trace.showlegend] == list(NAMES.values())
    assert {trace.line.dash for trace in lines} == {"solid", "dot"}


def test_confusion_shows_every_count_readably():
    fig = confusion([[5, 1], [0, 9]], ["no", "yes"], ("answer", "truth"))
    assert [(a.x, a.y, a.text) for a in fig.layout.annotations] == [
        ("no", "no", "5"),
        ("yes", "no", "1"),
        ("no", "yes", "0"),
        ("yes", "yes", "9"),
    ]
    assert [a.font.color for a in fig.layout.annotations] == ["white", "white", "white", "black"]
    confusion([[0, 0], [0, 0]], ["a", "b"], ("answer", "truth"))


def test_bars_are_means_over_runs():
    fig = accuracy_by_kind({"pretrained": {"plain": [0.5, 0.7], "irony": [0.4]}}, NAMES, "accuracy")
    assert list(fig.data[0].y) == [pytest.approx(0.6), 0.4] and list(fig.data[0].x) == ["plain", "irony"]


def test_comparison_shows_every_seed_with_mean_and_deviation():
    values = [0.6, 0.7, 0.65]
    fig = comparison({"pretrained": values, "random": [0.5]}, NAMES, 0.5, "dev accuracy")
    dots, mean, lone = fig.data
    assert list(dots.x) == values and list(lone.x) == [0.5]
    assert mean.x[0] == pytest.approx(statistics.fmean(values))
    assert mean.error_x.array[0] == pytest.approx(statistics.stdev(values))


def test_answers_are_drawn_by_run():
    fig = answers_over_time({"run 1": {"yes": [(0, 0.5), (1, 0.9)]}}, {"run 1": "random"}, "P(yes)", "epoch")
    assert list(fig.data[0].y) == [0.5, 0.9] and fig.data[0].line.dash == "dot"
