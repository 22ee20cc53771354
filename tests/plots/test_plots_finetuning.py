"""Figures of fine-tuning runs: their data."""

import statistics

import pytest

from plots import finetuning

NAMES = {"pretrained": "from the checkpoint", "random": "from random weights"}
EVENTS = [
    {"event": "started"},
    {"event": "eval", "step": 0, "metrics": {"accuracy": 0.5}},
    {"event": "step", "step": 1, "loss": 0.7},
    {"event": "step", "step": 2, "loss": 0.6},
    {"event": "eval", "step": 2, "metrics": {"accuracy": 0.75}},
]


def test_a_curve_is_read_from_events_and_the_mean_goes_as_far_as_every_run():
    curve = finetuning.Curve.of("random", 3, 4, "accuracy", EVENTS)
    assert curve.loss == [(0.25, 0.7), (0.5, 0.6)]
    assert curve.score == [(0.0, 0.5), (0.5, 0.75)]
    kept = [
        *EVENTS,
        {"event": "eval", "step": 4, "metrics": {"accuracy": 0.7}},
        {**EVENTS[-1], "metrics": {"accuracy": 0.8}},
    ]
    assert finetuning.Curve.of("random", 3, 4, "accuracy", kept).score == [(0.0, 0.5), (0.5, 0.8), (1.0, 0.7)]
    mean = finetuning.mean_line([[(1, 0.2), (2, 0.4), (3, 0.9)], [(1, 0.4), (2, 0.8)]])
    assert mean == [(1, pytest.approx(0.3)), (2, pytest.approx(0.6))]


def test_several_seeds_have_a_mean_and_both_starts_differ_without_colour():
    curves = [finetuning.Curve.of(start, seed, 4, "accuracy", EVENTS) for start in NAMES for seed in (0, 1)]
    fig = finetuning.learning_curves(curves, NAMES, finetuning.Scale("accuracy", 0.5), ("loss", "epoch"))
    lines = [trace for trace in fig.data if trace.x[0] is not None]
    assert len(lines) == 2 * (2 * 2 + 2)  # two panels; two runs and a mean for each start
    assert [trace.name for trace in fig.data if trace.showlegend] == list(NAMES.values())
    assert {trace.line.dash for trace in lines} == {"solid", "dot"}


def test_the_scale_holds_every_score_and_what_a_trivial_answer_reaches():
    low, high = finetuning.Scale("accuracy", 0.25).range([0.4, 0.9])
    assert 0 < low < 0.25 and high > 1
    low, _high = finetuning.Scale("Pearson", percent=False).range([-0.3])
    assert low < -0.3
    assert finetuning.Scale("F1").range([])[0] < 0


def test_comparison_shows_every_seed_with_mean_and_deviation():
    values = [0.6, 0.7, 0.65]
    fig = finetuning.comparison({"pretrained": values, "random": [0.5]}, NAMES, finetuning.Scale("accuracy", 0.5))
    dots, mean, lone = fig.data
    assert list(dots.x) == values and list(lone.x) == [0.5]
    assert mean.x[0] == pytest.approx(statistics.fmean(values))
    assert mean.error_x.array[0] == pytest.approx(statistics.stdev(values))
    fig = finetuning.right_by_kind({"pretrained": {"plain": [0.5, 0.7], "irony": [0.4]}}, NAMES, "accuracy")
    assert list(fig.data[0].y) == [pytest.approx(0.6), 0.4] and list(fig.data[0].x) == ["plain", "irony"]


def test_where_a_run_changes_its_mind_is_written_and_crossed_out():
    said = [
        finetuning.PredictionCurve("run <b>1</b>", "random", [(0, "yes", 0.5), (0.5, "no", 0.7), (1, "<i>no</i>", 0.9)])
    ]
    fig = finetuning.answers_over_time(said, "how sure", "epoch", NAMES, "not the last")
    line = fig.data[0]
    assert list(line.y) == [0.5, 0.7, 0.9] and line.line.dash == "dot"
    assert list(line.text) == ["", "no", "&lt;i&gt;no&lt;/i&gt;"]
    assert list(line.marker.symbol) == ["x", "x", "diamond-open"]
    assert [trace.name for trace in fig.data[1:]] == [NAMES["random"], "not the last"]
    assert "<b>" not in line.hovertemplate and "<i>" not in line.customdata[2]
    said = [finetuning.PredictionCurve("run", "pretrained", [(0, "2.5", 2.5)])]
    fig = finetuning.answers_over_time(said, "score", "epoch", NAMES, "other", 5.0)  # scores, up to their top
    assert fig.layout.yaxis.range[1] > 5 and list(fig.data[0].text) == [""]
    # What was asked after training is a bar a run.
    said = [finetuning.PredictionCurve(name, "random", [(3, name, sure)]) for name, sure in (("yes", 0.9), ("no", 0.6))]
    fig = finetuning.answers_now(said, "how sure")
    assert [(bar.x[0], bar.text[0].split()[0]) for bar in fig.data] == [(0.9, "yes"), (0.6, "no")]
    assert fig.data[0].text[0].endswith("90%")


def test_recorded_runs_are_faint_and_behind():
    run = finetuning.Curve("pretrained", 0, [(0.5, 0.7)], [(0, 0.5), (1, 0.9)])
    behind = {"recorded": [run], "recorded_name": "recorded", "finding": "F"}
    fig = finetuning.learning_curves([run], NAMES, finetuning.Scale("F1"), ("loss", "epoch"), **behind)
    assert [trace.opacity for trace in fig.data[:2]] == [finetuning.FAINT] * 2 and fig.layout.title.text == "F"
    assert "recorded" in [trace.name for trace in fig.data if trace.showlegend is not False]
