"""Figures of what fine-tuned models answer: their data."""

from itertools import pairwise

from plots import answers
from plots.theme import BLUE, GREY


def test_a_name_is_short_and_literal():
    names = {"a\n b": "a b", "x" * 40: "x" * (answers.WIDEST - 1) + "…", "<b>": "&lt;b&gt;"}
    assert {name: answers.name_of(name) for name in names} == names


def test_the_chosen_bar_differs_by_more_than_colour_and_long_names_stand_above_their_bars():
    fig = answers.probability_bars(["no", "yes"], [0.25, 0.75], {1})
    assert list(fig.data[0].x) == [0.25, 0.75] and list(fig.data[0].marker.color) == [GREY, BLUE]
    assert list(fig.layout.yaxis.ticktext) == ["no", "<b>yes</b>"]
    assert "✓" not in fig.to_json()  # which says that something is right: an answer may be wrong
    assert [text.strip() for text in fig.data[1].text] == ["25.0%", "75.0%"]
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]  # the first on top
    fig = answers.probability_bars(["no", "yes"], [0.25, 0.75], {1}, thresholds=[0.5, 0.3], threshold_name="threshold")
    bars, thresholds = fig.data
    assert list(bars.x) == [0.25, 0.75] and list(thresholds.x) == [0.5, 0.3]
    assert thresholds.showlegend and thresholds.name == "threshold"
    assert list(fig.layout.yaxis.ticktext) == ["no · 25.0%", "<b>yes</b> · 75.0%"]  # no number beside a threshold
    fig = answers.probability_bars(["short", "a longer answer that would leave the bars no room"], [0.1, 0.9], {1})
    assert not fig.layout.yaxis.showticklabels
    names = fig.data[2].text
    assert names[0] == "short" and names[1].startswith("<b>a longer answer") and "✓" not in names[1]
    assert len(names[1]) <= answers.ABOVE_WIDEST + len("<b></b> ✓")
    assert fig.data[2].y[0] < 0 and set(fig.data[2].x) == {0}


def test_a_similarity_outside_the_scale_is_on_the_figure_and_the_worst_show_their_distance():
    fig = answers.similarity_scale(5.6, 0.0, 5.0, ("unrelated", "<same>"), truth=4.0)
    assert fig.layout.xaxis.range[1] > 5.6
    assert [trace.text[0] for trace in fig.data[2:]] == ["5.60", "4.00", "unrelated", "&lt;same&gt;"]
    assert fig.data[2].marker.symbol != fig.data[3].marker.symbol
    fig = answers.similarity_scatter([0.0, 5.0, 3.0], [4.0, 5.0, 3.1], ["a", "b", "c"], [0], ("truth", "answer"), 5.0)
    lines = [trace for trace in fig.data if trace.mode == "lines"]
    assert list(lines[1].x) == [0.0, 0.0] and list(lines[1].y) == [0.0, 4.0]
    others, worst = fig.data[-2:]
    assert list(others.y) == [5.0, 3.1] and list(worst.y) == [4.0]
    assert others.marker.symbol != worst.marker.symbol


def test_both_ends_of_a_span_share_one_axis_and_one_scale_and_the_likely_tokens_are_named():
    fig = answers.span_probabilities(["a", "b", "c"], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7], (1, 2), ("start", "end"))
    assert [list(bar.y) for bar in fig.data] == [[0.1, 0.8, 0.1], [0.0, 0.3, 0.7]]
    assert fig.layout.yaxis.range == fig.layout.yaxis2.range and fig.layout.yaxis.range[1] > 0.8
    assert list(fig.layout.xaxis2.tickvals) == [0, 1, 2]
    shade = fig.layout.shapes[0]
    assert (shade.x0, shade.x1) == (0.5, 2.5)
    # Of many tokens the likely ones are named and do not touch.
    count = 10 * answers.ALL_NAMED
    starts, ends = [0.0] * count, [0.0] * count
    starts[50], starts[51], ends[60], ends[150] = 0.6, 0.3, 0.5, 0.04
    assert answers.named_tokens(starts, ends, (50, 60)) == [50, 60]
    assert answers.named_tokens(starts, ends, None) == [50, 60]
    assert answers.named_tokens(starts, ends, (199, 199)) == [50, 60, 199]
    assert answers.named_tokens([0.0] * 5, [0.0] * 5, None) == [0, 1, 2, 3, 4]


def test_a_label_has_its_f1_and_count_and_no_threshold_of_another_scale():
    scores = {"joy": {"f1": 0.5, "threshold": 0.7, "count": 3.0}, "anger": {"f1": 0.9, "threshold": 0.2, "count": 1.0}}
    fig = answers.label_scores(scores, "n = {n}", "F1")
    assert [list(bars.x) for bars in fig.data] == [[0.5, 0.9]]
    assert fig.layout.yaxis.ticktext[0] == "joy · n = 3 · <b>50%</b>"


def test_outcomes_that_did_not_occur_are_not_in_the_legend_and_the_others_look_different():
    names = {"right": "right", "missed": "missed", "invented": "invented"}
    fig = answers.outcome_bars({"PER": {"right": 2, "missed": 1}, "LOC": {"right": 0, "missed": 3}}, names, "entities")
    assert [bar.name for bar in fig.data] == ["right", "missed"]
    assert list(fig.data[1].x) == [1, 3] and list(fig.data[0].text) == ["2", ""]
    stack = ["right", "border", "type", "both", "missed", "invented"]
    looks = answers.OUTCOMES
    assert all(looks[a][1] != looks[b][1] for a, b in pairwise(stack))  # patterns of those beside each other
    for kinds in (stack, ["exact", "overlap", "wrong", "silent", "missed", "invented"]):
        assert len({looks[kind][0] for kind in kinds}) == len(kinds)


def test_right_and_wrong_are_stacked_by_how_sure_they_were():
    fig = answers.sureness([0.9, 0.8], [0.3], ("right", "wrong"), ("probability", "examples"))
    assert [list(bar.x) for bar in fig.data] == [[0.9, 0.8], [0.3]]
    assert fig.layout.barmode == "stack" and fig.data[0].xbins.size == 0.1
    assert fig.data[0].marker.pattern.shape != fig.data[1].marker.pattern.shape
