"""Figures of the paper's experiments: their data, not their pixels."""

import statistics

from minibert.experiments.results import VERDICTS
from plots.experiments import Gap, Score, differences, loss_curves, over_steps, scores


def test_scores_show_each_seed_mean_and_spread():
    ours = {0: 70.0, 1: 72.0, 2: 74.0}
    fig = scores([Score("base", 92.7, ours), Score("arm", None, {0: 71.0})], ("a", "b"), ("x", "y"), "seed")
    paper, dots, mean, *_ = fig.data
    assert paper.x == (92.7,)
    assert dots.x == (70.0, 72.0, 74.0) and dots.customdata == (0, 1, 2)
    assert mean.x == (72.0,) and mean.error_x.array == (statistics.stdev(ours.values()),)
    assert fig.data[-1].error_x.array is None  # one seed has no spread
    assert all(fig.layout.xaxis2.range[0] < x < fig.layout.xaxis2.range[1] for x in ours.values())


def test_without_the_papers_numbers_there_is_one_panel():
    fig = scores([Score("base", None, {0: 1.0})], ("a", "b"), ("x", "y"), "seed")
    assert "xaxis2" not in fig.layout


def test_a_floor_is_drawn_only_where_it_is_in_sight():
    row = Score("base", 92.7, {0: 70.0, 1: 72.0})
    for floor, seen in ((69.8, [69.8]), (50.0, []), (None, [])):
        fig = scores([row], ("a", "b"), ("x", "y"), "seed", floor)
        assert [shape.x0 for shape in fig.layout.shapes] == seen
        assert all(shape.xref == "x2" for shape in fig.layout.shapes)  # among ours
        assert fig.layout.xaxis2.range[0] > 69


def test_without_a_direction_in_the_paper_a_difference_has_its_own_sign():
    verdicts = ("agrees", "disagrees", "unclear", "no difference in the paper", "not in the paper")
    assert set(verdicts) == set(VERDICTS)
    fig = differences([Gap(said, None, 1.0, 0.5, said) for said in verdicts], ("paper", "ours"), "points")
    symbols = [trace.marker.symbol for trace in fig.data if trace.x and trace.x[0] is not None]
    assert symbols[3] == symbols[4] and len(set(symbols)) == 4


def test_differences_carry_interval_and_verdict():
    rows = [
        Gap("a", -0.5, -2.0, 1.0, "agrees"),
        Gap("b", 0.5, -2.0, None, "unclear"),
        Gap("c", None, None, None, "unclear"),
    ]
    fig = differences(rows, ("paper", "ours"), "points")
    points = [trace for trace in fig.data if trace.x and trace.x[0] is not None]
    assert [trace.x[0] for trace in points] == [-0.5, -2.0, 0.5, -2.0]
    assert points[1].error_x.array == (1.0,)
    assert points[1].marker.symbol != points[3].marker.symbol  # told apart without colour
    assert [trace.name for trace in fig.data if trace.name] == ["paper", "ours"]


def test_steps_are_in_order():
    fig = over_steps({"mlm": {200: {0: 2.0, 1: 4.0}, 100: {0: 1.0}}}, ("steps", "score"))
    assert fig.data[0].x == (100, 200) and fig.data[0].y == (1.0, 3.0)
    assert fig.data[1].x == (100, 200, 200)


def test_curves_are_told_apart():
    fig = loss_curves({str(i): [(1, 2.0)] for i in range(9)}, ("step", "loss"))
    assert len({(trace.line.color, trace.line.dash) for trace in fig.data}) == 9
