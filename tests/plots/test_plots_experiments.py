"""Figures of the paper's experiments: their data, not their pixels."""

import statistics

from minibert.experiments.results import VERDICTS
from plots import experiments
from plots.experiments import Gap, Score


def test_scores_show_each_seed_mean_and_spread_and_a_floor_in_sight():
    ours = {0: 70.0, 1: 72.0, 2: 74.0}
    rows = [Score("base", 92.7, ours), Score("arm", None, {0: 71.0})]
    fig = experiments.scores(rows, ("a", "b"), ("x", "y"), "seed")
    paper, dots, mean, *_ = fig.data
    assert paper.x == (92.7,)
    assert dots.x == (70.0, 72.0, 74.0) and dots.customdata == (0, 1, 2)
    assert mean.x == (72.0,) and mean.error_x.array == (statistics.stdev(ours.values()),)
    assert fig.data[-1].error_x.array is None  # one seed has no spread
    assert all(fig.layout.xaxis2.range[0] < x < fig.layout.xaxis2.range[1] for x in ours.values())
    without_the_paper = experiments.scores(rows[1:], ("a", "b"), ("x", "y"), "seed")
    assert "xaxis2" not in without_the_paper.layout
    row = Score("base", 92.7, {0: 70.0, 1: 72.0})
    for floor, seen in ((69.8, [69.8]), (50.0, [50.0]), (None, [])):
        fig = experiments.scores([row], ("a", "b"), ("x", "y"), "seed", floor)
        assert [shape.x0 for shape in fig.layout.shapes] == seen
        assert all(shape.xref == "x2" for shape in fig.layout.shapes)  # among ours
        assert floor is None or fig.layout.xaxis2.range[0] < floor


def test_differences_carry_interval_and_verdict():
    def drawn(*rows):
        return experiments.differences(rows, ("paper", "ours"), "points").data

    unclear = Gap("b", 0.5, -2.0, None, "unclear"), Gap("c", None, None, None, "unclear")
    traces = drawn(Gap("a", -0.5, -2.0, 1.0, "agrees"), *unclear)
    assert [trace.name for trace in traces if trace.name] == ["paper", "ours"]
    points = [trace for trace in traces if trace.x and trace.x[0] is not None]
    assert [trace.x[0] for trace in points] == [-0.5, -2.0, 0.5, -2.0]
    assert points[1].error_x.array == (1.0,)
    assert points[1].marker.symbol != points[3].marker.symbol  # told apart without colour
    # without a direction in the paper a difference has its own sign
    traces = drawn(*(Gap(said, None, 1.0, 0.5, said) for said in VERDICTS))
    symbols = [trace.marker.symbol for trace in traces if trace.x and trace.x[0] is not None]
    assert symbols[3] == symbols[4] and symbols[5] == symbols[6] and len(set(symbols)) == 5


def test_steps_are_in_order_and_have_a_floor_with_a_name():
    means = {"mlm": {200: {0: 2.0, 1: 4.0}, 100: {0: 1.0}}}
    fig = experiments.over_steps(means, ("steps", "score"), (1.0, "frequencies"), title="1 direction")
    assert fig.data[0].x == (100, 200) and fig.data[0].y == (1.0, 3.0)
    assert fig.data[1].x == (100, 200, 200)
    assert [shape.y0 for shape in fig.layout.shapes] == [1.0]
    assert "frequencies" in [trace.name for trace in fig.data] and fig.layout.title.text == "1 direction"


def test_curves_are_told_apart_and_losses_of_different_questions_share_no_scale():
    words = {str(i): [(1, 2.0)] for i in range(9)}
    fig = experiments.loss_curves({"hidden words": words, "the next word": {"c": [(1, 3.0)]}}, ("x", "y"), "falls")
    *lines, other = fig.data
    assert len({(trace.line.color, trace.line.dash) for trace in lines}) == 9
    assert len({trace.yaxis for trace in lines}) == 1 and other.yaxis != lines[0].yaxis
    assert [note.text for note in fig.layout.annotations][:2] == ["hidden words", "the next word"]


def test_one_scale_shows_the_paper_ours_and_the_floor_and_a_perplexity_has_a_scale_of_halvings():
    rows = [Score("base", 92.7, {0: 70.0, 1: 72.0, 2: 74.0}, (75.0,)), Score("arm", None, {0: 71.0})]
    names = ("paper", "ours", "nothing read")
    fig = experiments.on_one_scale(rows, names, "percent", 50.9, title="Best here: base", own="yours")
    low, high = fig.layout.xaxis.range
    assert low < 50.9 and high > 92.7 and "xaxis2" not in fig.layout
    assert [shape.x0 for shape in fig.layout.shapes] == [50.9] * 2  # below each name, through none
    assert fig.layout.shapes[0].y1 < fig.layout.yaxis.tickvals[1] < fig.layout.shapes[1].y0 + 0.01
    paper, dots, mean, number, own, *_ = fig.data
    assert paper.x == (92.7,) and dots.x == (70.0, 72.0, 74.0) and own.x == (75.0,)
    assert mean.x == (72.0,) and mean.error_x.array == (statistics.stdev([70.0, 72.0, 74.0]),)
    assert number.x[0] >= 75 and number.text[0].strip() == "72.0"  # beside the last mark of the row
    assert [trace.name for trace in fig.data if trace.name] == ["paper", "ours", "yours", "nothing read"]
    row = Score("a", 4.0, {0: 400.0, 1: 410.0})
    fig = experiments.on_one_scale([row], names, "perplexity", 1354.0, title="t", log=True)
    low, high = fig.layout.xaxis.range
    assert fig.layout.xaxis.type == "log" and 10**low < 4 and 10**high > 1354
    assert [shape.x0 for shape in fig.layout.shapes] == [1354.0]  # a shape's place is a value, not its logarithm


def test_kinds_stand_in_order_with_a_dot_a_seed():
    lines = {"mlm": {"name": {0: 60.0, 1: 80.0}, "article": {0: 90.0}}, "left-to-right": {"name": {0: 50.0}}}
    fig = experiments.by_kind(lines, {"article": "a or an", "name": "the name"}, "percent", title="t")
    bars = {trace.name: trace for trace in fig.data if trace.type == "bar"}
    assert bars["mlm"].x == (90.0, 70.0) and bars["left-to-right"].x == (50.0,)
    assert fig.data[1].x == (90.0, 60.0, 80.0)
    assert list(fig.layout.yaxis.ticktext) == ["a or an", "the name"]
    apart = abs(bars["mlm"].y[1] - bars["left-to-right"].y[0])
    assert apart >= bars["mlm"].width  # bars of two arms do not lie over each other
