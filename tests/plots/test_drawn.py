"""What a figure draws is what it was given: the numbers, which of them are marked, and how they are told apart.
(That no text becomes markup is asked of all figures in test_renderers.)"""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from minibert.finetune.layer_choice import layers_to_read
from minibert.inside.heads.visibility import MODELS, nodes, output, reach
from plots import (
    albert,
    attribution,
    checklist,
    cone,
    confusion,
    cues,
    dialogue,
    embeddings_sum,
    encoder_decoder,
    features,
    head_kinds,
    knowledge,
    next_sentence,
    nezha,
    pruning,
    recurrent,
    service,
    stability,
    to_write,
    tokenization,
    training_options,
    visibility,
    what_to_hide,
    xlnet,
)
from plots.encoder_decoder import CROSS, SELF, UNSEEN
from plots.theme import BLUE, VERMILION

AXES = ("across", "up", "along")
STEPS = AXES[:2]
LINES = {"one": [0.25, 0.9], "two": [0.4, 0.0]}
MARKS = {name: list(enumerate(values)) for name, values in LINES.items()}
ONE, TWO = LINES.values()


@pytest.mark.parametrize(
    ("figure", "given", "x", "marked"),
    [
        (cone.likelihoods, (MARKS, "t", STEPS), [0, 1], []),
        (dialogue.over_seconds, (MARKS, STEPS, "t"), [0, 1], []),
        (embeddings_sum.cost_of_length, ([64, 128], LINES, 128, STEPS), [64, 128], [128]),
        (features.storage, ([1, 2], LINES, 2, STEPS), [1, 2], [2]),
        (nezha.over_scales, (LINES, "ab", 1, STEPS), [0, 1], [1]),
        (training_options.weight_paths, (LINES, STEPS), [0, 1], []),
        (recurrent.left_of_words, ("ab", LINES, STEPS), [0, 1], []),
        (to_write.by_sweep, (LINES, STEPS), [1, 2], []),
        (to_write.over_steps, (MARKS, STEPS), [0, 1], []),
        (tokenization.growth_of_vocabulary, ([5, 9], LINES), [5, 9], []),
        (training_options.two_answers, (ONE, TWO, tuple(LINES), STEPS), [1, 2], []),
    ],
)
def test_lines_hold_their_numbers_and_are_told_apart_without_colour(figure, given, x, marked):
    fig = figure(*given)
    assert [(line.name, list(line.x), list(line.y)) for line in fig.data] == [("one", x, ONE), ("two", x, TWO)]
    assert [shape.x0 for shape in fig.layout.shapes] == marked
    assert len({(line.mode, line.line.dash, line.marker.symbol) for line in fig.data}) == 2


@pytest.mark.parametrize(
    ("figure", "given", "bars", "written"),
    [
        (encoder_decoder.next_words, ("ab", [0.9, 0.0004]), [([0.9, 0.0004], [0, 1])], ["90.0%", "< 0.1%"]),
        (next_sentence.random_shares, ([1, 2], [1, 0.667], STEPS), [([1, 2], [1, 0.667])], ["100%", "67%"]),
        (next_sentence.trained_and_asked, (LINES, STEPS), [([0.25, 0.4], [*LINES]), ([0.9, 0.0], [*LINES])], None),
        (training_options.layer_shares, ("qk", {"LAMB": ONE}, "share"), [(ONE, [0, 1])], None),
        (service.rates, ([1, 8], LINES, *STEPS), [(["1", "8"], ONE), (["1", "8"], TWO)], None),
        (stability.layer_rates, ("ab", [0, 3e-4], "frozen", "rate"), [([0, 3e-4], [0, 1])], ["frozen", "3.0e-4"]),
        (stability.power_curve, ([2, 3], ONE, 0.8, STEPS), [([2, 3], ONE)], None),
        (training_options.loss_sum, ({"task": 0.7, "MLM": 0.4}, "loss"), [([0.7], [""]), ([0.4], [""])], None),
        (training_options.step_shares, (ONE, STEPS), [([1, 2], ONE)], None),
        (xlnet.joint_bars, ({"a": 0.02, "b": 0.1}, "P", "t"), [([0.02, 0.1], ["a", "b"])], ["2.00%", "10.00%"]),
    ],
)
def test_bars_hold_their_numbers(figure, given, bars, written):
    fig = figure(*given)
    assert [(list(bar.x), list(bar.y)) for bar in fig.data] == bars
    assert written in (None, [text for bar in fig.data for text in bar.text or ()])
    if figure is service.rates:  # whose clients are names, not places
        assert fig.layout.xaxis.type == "category" and fig.layout.xaxis.title.text == STEPS[0]


def test_segments_of_weights_stand_behind_each_other():
    rows = {
        "BERT": [("embeddings", 3_000_000), ("attention", 400_000), ("mlp", 800_000), ("attention", 400_000)],
        "ALBERT": [("embeddings", 500_000), ("attention", 400_000)],
    }
    fig = albert.weights(rows, {"embeddings": "words", "attention": "attention", "mlp": "network"}, "millions")
    bars = {bar.name: bar for bar in fig.data}
    attention = bars["attention"]
    assert (attention.base, attention.x, attention.y) == ((3.0, 4.2, 0.5), (0.4, 0.4, 0.4), (0, 0, 1))
    assert list(bars) == ["words", "attention", "network"] and list(bars["network"].base) == [3.4]
    assert [note.text for note in fig.layout.annotations] == ["<b>4.60 M</b>", "<b>900 k</b>"]
    assert bars["words"].hovertext[0] == "words: 3,000,000"


NAMES = {"integrated": "Integrated", "rollout": "Rollout", "random": "random"}


def test_each_method_is_scaled_by_its_own_largest():
    values = {"integrated": np.array([2.0, -4.0]), "rollout": np.array([0.1, 0.2])}
    fig = attribution.word_grid(["a", "b"], values, NAMES)
    assert np.array(fig.data[0].z) == pytest.approx(np.array([[0.5, 0.5], [-1.0, 1.0]]))
    assert fig.data[0].customdata[1][0][1] == -4.0
    assert [note.text for note in fig.layout.annotations] == ["+2.00", "+0.10", "−4.00", "+0.20"]
    assert attribution.word_grid(["a"], {"integrated": np.zeros(1)}, NAMES).data[0].z[0][0] == 0  # nothing found
    fig = attribution.agreement_matrix(np.array([[1.0, np.nan], [np.nan, 1.0]]), ["a", "b"])
    assert [note.text for note in fig.layout.annotations] == ["1.00", "–", "–", "1.00"]  # no correlation


def test_random_orders_are_a_mean_and_a_band_and_falls_a_mean_with_its_standard_error():
    random = np.array([[0.8, 0.4, 0.1], [0.8, 0.6, 0.1]])
    fig = attribution.deletion_curves({"rollout": np.array([0.8, 0.2, 0.1])}, random, NAMES, ("x", "y", "random"))
    band, mean, line = fig.data
    assert list(mean.y) == pytest.approx([0.8, 0.5, 0.1])
    spread = np.std([0.4, 0.6], ddof=1)
    assert band.y[1] == pytest.approx(0.5 + spread) and band.y[4] == pytest.approx(0.5 - spread)
    assert (line.name, list(line.y)) == ("Rollout", [0.8, 0.2, 0.1])
    fig = attribution.falls({"integrated": [0.2, 0.4], "random": [0.1]}, NAMES, "fall")
    assert fig.data[1].x == (pytest.approx(0.3),)
    assert fig.data[1].error_x.array == (pytest.approx(np.std([0.2, 0.4], ddof=1) / np.sqrt(2)),)
    assert fig.data[3].error_x.array == (0.0,)


def test_the_slope_is_drawn_through_the_end_of_the_path():
    fig = attribution.score_on_the_path(np.array([0.0, 3.0, 4.0]), 1.0, ("share", "score"), ("path", "slope"))
    line, tangent = fig.data
    assert (list(line.x), list(tangent.y)) == ([0, 0.5, 1], [3.0, 3.5, 4.0])
    fig = attribution.completeness_error((2, 4), {"rule": [0.5, 0.1]}, 4, ("steps", "error"))
    assert list(fig.data[0].y) == [0.5, 0.1] and fig.layout.shapes[0].x0 == 4


def test_points_and_arrows_stand_where_they_are_in_circles_of_one_scale():
    points = np.array([[0.1, 0.2], [0.0, -0.4], [-0.6, 0.8], [0.6, 0.8]])
    panels = [cone.Cloud("as it is", points, 0.5, 0.28), cone.Cloud("after", -points, None, -0.1)]
    fig = cone.clouds(panels, ["one", "two", "a", "b"], "t", ("mean", "yours"))
    grey, first, second = fig.data[:3]
    assert list(grey.x) == [0.1, 0.0]
    assert (list(first.x), list(first.y)) == ([0, -0.6], [0, 0.8]) and list(second.x) == [0, 0.6]
    assert first.line.dash != second.line.dash and first.marker.symbol[1] != second.marker.symbol[1]
    assert len([shape for shape in fig.layout.shapes if shape.type == "circle"]) == 2
    assert (fig.layout.yaxis.scaleanchor, fig.layout.yaxis2.scaleanchor) == ("x", "x2")
    words = [note.text for note in fig.layout.annotations]
    assert words[1] == "mean <b>0.50</b><br>yours <b>0.28</b>" and words[3] == "yours <b>−0.10</b>"
    assert fig.layout.height <= 400


def test_agreement_by_numbers_kept_beside_what_it_was():
    found, before = {"own": [0.2, 0.4], "b": [0.5, 0.6]}, {"own": 0.3, "b": 0.4}
    fig = cone.over_dimensions(found, before, [8, 256], "t", ("k", "rho"), "before")
    assert [list(trace.y) for trace in fig.data] == [[0.2, 0.4], [0.3, 0.3], [0.5, 0.6], [0.4, 0.4]]
    assert list(fig.data[0].x) == ["8", "256"] and fig.data[0].line.dash != fig.data[2].line.dash


def test_every_count_is_written_in_a_colour_that_the_cell_chooses():
    fig = confusion.confusion([[5, 1], [0, 9]], ["no", "yes"], ("answer", "truth"))
    (cells,) = fig.data
    assert [list(row) for row in cells.z] == [[5, 1], [0, 9]] and cells.texttemplate == "%{z}"
    # The theme of the page recolours annotations: dark digits on dark violet.
    assert not fig.layout.annotations and cells.textfont.color is None
    confusion.confusion([[0, 0], [0, 0]], ["a", "b"], ("answer", "truth"))


def test_the_path_goes_through_the_tags_and_steps_have_zero_in_the_middle():
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    fig = dialogue.tag_path(["wake", "me"], ["O", "B-time"], probs, [0, 1], "title")
    heat, path = fig.data
    assert np.array(heat.z).T.tolist() == probs.tolist() and list(path.y) == [0, 1]
    assert list(fig.layout.yaxis.ticktext) == ["O", "B-time"]
    heat = dialogue.step_matrix(["O", "B"], np.array([[0.5, -2.0], [1.0, 0.0]]), STEPS, "title").data[0]
    assert (heat.zmin, heat.zmax) == (-2.0, 2.0)
    assert dialogue.step_matrix(["O"], np.zeros((1, 1)), STEPS, "t").data[0].zmax == 1.0
    assert np.array(dialogue.share_matrix(["a", "__CLS__"], probs, "t").data[0].z).tolist() == probs.tolist()
    assert list(dialogue.intents(["a", "b"], [0.9, 0.1], "confidence", "t").data[0].x) == pytest.approx([0.9, 0.1])


def test_strips_share_one_scale_around_zero():
    rows = {"token": np.array([0.1, -0.5]), "sum": np.array([0.3, 0.2])}
    (strip,) = embeddings_sum.summands(rows, "dimension").data
    assert (strip.zmin, strip.zmax, list(strip.y)) == (-0.5, 0.5, ["token", "sum"])
    np.testing.assert_array_equal(strip.z, [[0.1, -0.5], [0.3, 0.2]])
    (strip,) = embeddings_sum.summands({"token": np.zeros(3)}, "dimension").data
    assert strip.zmin < strip.zmax


def test_cosines_are_scipys():
    table = np.random.default_rng(0).normal(size=(9, 5))
    np.testing.assert_allclose(embeddings_sum.cosines(table), 1 - cdist(table, table, "cosine"), atol=1e-12)
    learned, fixed = embeddings_sum.position_similarity(table, table[::-1], ("a", "b"), "place").data
    np.testing.assert_allclose(learned.z, embeddings_sum.cosines(table))
    np.testing.assert_allclose(fixed.z, embeddings_sum.cosines(table[::-1]))


ROWS = {"embeddings": "embeddings", "layer": "layer {n}", "read": "read", "bilstm": "BiLSTM", "new": "new layer"}
TOKENS = ["[CLS]", "a", "[SEP]"]


@pytest.mark.parametrize(
    ("layers", "pooling", "frozen", "expected"),
    [
        ("last", None, True, {(0, 4), (1, 4), (2, 4)}),
        ("second_to_last", None, True, {(0, 3), (1, 3), (2, 3)}),
        ("embeddings", None, False, {(0, 0), (1, 0), (2, 0)}),
        ("all_concat", "cls", True, {(0, layer) for layer in range(5)}),
        ("last", "mean", False, {(0, 4), (1, 4), (2, 4)}),
    ],
)
def test_the_squares_filled_are_those_read(layers, pooling, frozen, expected):
    fig = features.stack(TOKENS, layers_to_read(layers, 4, 8, pooling=pooling), 4, frozen, ROWS, "two classes")
    colour = features.FROZEN if frozen else features.TRAINED
    filled = [trace for trace in fig.data if trace.mode == "markers" and trace.marker.color == colour]
    places = {place for trace in filled for place in zip(trace.x, trace.y, strict=True)}
    assert {place for place in places if place[1] <= 4} == expected
    assert len([place for place in places if place[1] > 4]) == (3 if pooling is None else 1)


def test_a_bilstm_is_a_row_more_and_bars_show_runs_beside_recorded_ones():
    readings = [layers_to_read("last", 4, 8, bilstm=bilstm) for bilstm in (False, True)]
    plain, more = (features.stack(TOKENS, one, 4, True, ROWS, "a tag").layout.yaxis.ticktext for one in readings)
    assert len(more) == len(plain) + 1 and "BiLSTM" in more and "BiLSTM" not in plain
    now, before = features.bars(
        [features.RunScore("a", 40.0, (39.0, 41.0)), features.RunScore("b", None)], "F1", STEPS
    ).data
    assert (now.x, before.x, before.y) == ((40.0, None), (39.0, 41.0), (0, 0))


def test_a_joined_vector_has_two_parts():
    word, roles = knowledge.joined_vector([0.1, -0.2, 0.3, 0.4, 0.5], 3, ("word", "roles"), "five").data
    assert list(word.x) == [1, 2, 3] and list(word.y) == [0.1, -0.2, 0.3]
    assert list(roles.x) == [4, 5] and list(roles.y) == [0.4, 0.5]
    assert word.name == "word"


@pytest.mark.parametrize("many", [3, 20])
def test_an_arrow_goes_from_each_subject_to_where_the_relation_leads(many):
    names = [*(f"s{n}" for n in range(many)), "girl"]
    points = [(float(n), 0.0) for n in range(many)] + [(1.0, 5.0)]
    ends = [(n + 0.5, 4.0) for n in range(many)]
    fig = knowledge.translations(names, many, points, ends, "facts")
    subjects, objects = fig.data
    assert list(subjects.text) == names[:-1] and list(objects.text) == ["girl"]
    assert list(objects.x) == [1.0] and list(objects.y) == [5.0]
    arrows = [(one.ax, one.ay, one.x, one.y) for one in fig.layout.annotations if one.showarrow]
    assert arrows == [(float(n), 0.0, n + 0.5, 4.0) for n in range(many)]
    assert ("text" in subjects.mode) == (many < 15)  # else they would lie over each other


def test_a_judgement_is_split_in_two_and_both_judges_stand_on_the_row_of_the_kind():
    fig = next_sentence.judgement({"A, then B": 0.75, "B, then A": 0.2})
    assert [list(bar.x) for bar in fig.data] == [[0.75, 0.2], [0.25, 0.8]]
    assert [note.text for note in fig.layout.annotations] == ["<b>75.0%</b>", "<b>20.0%</b>"]
    shares = {
        "model": [next_sentence.Share(0.8, 0.7, 0.9), next_sentence.Share(0.5, 0.4, 0.7)],
        "topic": [next_sentence.Share(0.7, 0.6, 0.8), next_sentence.Share(0.3, 0.2, 0.4)],
    }
    fig = next_sentence.judged_next(["next", "other, far"], shares, [1.0, 0.0], "judged next")
    for trace, values in zip(fig.data, shares.values(), strict=True):
        assert list(trace.x) == [share.value for share in values]
        assert [round(y) for y in trace.y] == [0, 1]
        assert np.add(trace.x, trace.error_x.array) == pytest.approx([share.high for share in values])
        assert np.subtract(trace.x, trace.error_x.arrayminus) == pytest.approx([share.low for share in values])
    assert fig.data[0].marker.symbol != fig.data[1].marker.symbol
    assert [note.text for note in fig.layout.annotations] == ["<b>80%</b>", "<b>50%</b>", "<b>70%</b>", "<b>30%</b>"]
    assert [shape.x0 for shape in fig.layout.shapes] == [1.0, 0.0]
    assert fig.layout.yaxis.ticktext[1] == "other, far" and fig.layout.yaxis.tickvals[1] < min(fig.data[0].y[1:])


def test_changes_have_their_sign_and_all_panels_one_scale():
    changes = {"one": {"t": (84.4, 83.9), "u": (88.4, 84.9)}, "two": {"t": (84.0, 84.7)}}
    fig = next_sentence.with_and_without(changes, ("up", "down"))
    assert list(fig.data[0].text) == ["<b>−0.5</b>", "<b>−3.5</b>"] and list(fig.data[1].text) == ["<b>+0.7</b>"]
    assert fig.data[0].marker.color[0] != fig.data[1].marker.color[0]
    assert fig.layout.xaxis.range == fig.layout.xaxis2.range


def test_a_strip_and_a_bar_for_each_token():
    vectors = np.linspace(-1, 1, 12).reshape(3, 4)
    fig = nezha.distance_strips(["a", "b", "c"], [-1, 0, 1], vectors, [0.5, -0.2, 0.0], 1, AXES)
    strips, bars = fig.data
    assert np.array_equal(np.array(strips.z), vectors.T) and (strips.zmin, strips.zmax) == (-1, 1)
    assert list(bars.y) == [0.5, -0.2, 0.0] and len(set(bars.marker.color[:2])) == 2
    assert list(fig.layout.xaxis2.ticktext) == ["−1", "0", "+1"]
    assert bars.customdata[0] == "a -1"


def test_lengths_have_means_spreads_and_seeds():
    fig = nezha.over_lengths({"one": {32: [0.4, 0.6], 64: [0.1]}, "two": {32: [0.5]}}, 32, STEPS, "longer")
    means = {trace.name: list(trace.y) for trace in fig.data if trace.name}
    assert means == {"one": [0.5, 0.1], "two": [0.5]}
    assert list(fig.data[0].error_y.array) == pytest.approx([0.141421, 0.0], abs=1e-5)
    assert list(fig.data[1].y) == [0.4, 0.6, 0.1]  # a dot a seed
    looks = training_options.OPTIMIZERS  # numbers that are no shares are written as they are
    fig = nezha.over_lengths({"a": {32: [4.5]}, "b": {32: [3.5]}}, None, STEPS, number=".2f", looks=looks)
    assert fig.layout.yaxis.tickformat == ".2f" and not fig.layout.shapes
    assert [trace.line.color for trace in fig.data if trace.name] == [looks[0][0], looks[1][0]]
    ratios = training_options.layer_shares(["q", "k"], {"AdamW": [0.2, 5.0]}, "ratio", percent=False)
    assert {"0.2", "1", "5"} <= set(ratios.layout.xaxis.ticktext)
    assert list(ratios.layout.yaxis.ticktext) == ["q", "k"]


def test_gates_have_means_above_and_numbers_below():
    numbers = np.array([[0.1, 0.9, 0.5], [0.2, 0.8, 0.6]])
    fig = recurrent.gates(["a", "b"], {"in": [0.25, 0.5], "out": [1.0, 0.0]}, numbers, "3 numbers", "what it says")
    above, below = fig.data
    assert np.array_equal(np.array(above.z), [[0.25, 0.5], [1.0, 0.0]])
    assert np.array_equal(np.array(below.z), [[0.1, 0.2], [0.5, 0.6], [0.9, 0.8]])  # the most open on top
    assert below.text[0][0] == "1" and below.text[2][0] == "2"
    assert {(trace.zmin, trace.zmax) for trace in fig.data} == {(0, 1)}
    assert list(fig.layout.xaxis2.ticktext) == ["a", "b"]


def test_a_guess_that_is_right_is_marked():
    columns = {"left": ([0.2, 0.9], ["a", "b"]), "both": ([0.5, 0.1], ["x", "y"])}
    fig = recurrent.expected_words(["a", "b"], columns, "word", "what it says")
    assert np.array_equal(np.array(fig.data[0].z), [[0.2, 0.5], [0.9, 0.1]])
    assert (fig.data[0].zmin, fig.data[0].zmax) == (0, 1)
    texts = [note.text for note in fig.layout.annotations]
    assert texts == ["<b>a · 20% ✓</b>", "x · 50%", "<b>b · 90% ✓</b>", "y · 10%"]


def test_each_part_of_a_request_begins_where_the_one_before_ends():
    parts = {"read": (0.0, 1.0), "model": (1.0, 3.0), "written": (4.0, 0.5)}
    fig = service.request_stages(parts, "4.5 ms", "ms", 300)
    bars = fig.data
    assert [(bar.base[0], bar.x[0]) for bar in bars] == list(parts.values())
    assert len({bar.marker.color for bar in bars}) == 2 and bars[1].marker.pattern.shape == ""  # the longest stands out
    assert fig.layout.title.text == "4.5 ms" and fig.layout.yaxis.ticktext[0] == "1 · read<br><b>1.00 ms</b>"


def test_the_curve_is_the_share_that_is_not_longer():
    fig = training_options.share_within([5, 7, 7, 20], 7, {0.75: 7, 0.92: 20}, STEPS, "read", "title")
    curve = dict(zip(fig.data[0].x, fig.data[0].y, strict=True))
    assert curve == {0: 0, 5: 0.25, 7: 0.75, 20: 1, 21: 1}
    chosen = fig.data[-1]
    assert (chosen.x[0], chosen.y[0]) == (7, 0.75)
    assert {note.text for note in fig.layout.annotations} == {"75% · 7", "92% · 20"}
    beyond_all = training_options.share_within([5, 7], 512, {}, STEPS, "read")
    assert beyond_all.data[0].y[-1] == 1 and beyond_all.layout.xaxis.range[1] > 512
    fig = training_options.rows_that_fit((64, 512), {"fused": [9, 0]}, {"measured": {64: 3, 512: 0}}, 64, STEPS)
    assert [list(trace.x) for trace in fig.data] == [[64], [64]]  # where no row fits nothing is drawn
    losses, mean, *_ = training_options.loss_spread({"1 mask": [1.0, 3.0], "2 masks": [2.0]}, "loss").data
    assert (list(losses.x), list(mean.x)) == ([1.0, 3.0], [2.0, 2.0])


def test_step_lengths_draw_the_factor_and_mark_its_peak_and_groups_their_means():
    fig = stability.step_lengths([1.0, 1.0, 1.0], [3.0, 6.0, 2.0], ("with", "without"), ("step", "length", "factor"))
    assert list(fig.data[2].y) == [3.0, 6.0, 2.0]
    assert [trace.text[0] for trace in fig.data if trace.text] == ["× 3.0", "× 6.0"]
    fig = stability.two_groups({"A": [1.0, 3.0], "B": [2.0]}, {"A": (2.0, 1.0), "B": (2.0, 0.0)}, "accuracy")
    assert fig.data[1].x[0] == pytest.approx(2.0) and fig.data[1].error_x.array[0] == 1.0


def test_every_run_of_the_grid_is_a_dot():
    cells = [
        stability.Cell("2 epochs", "3e-4", True, {0: 60.0, 1: 64.0}),
        stability.Cell("2 epochs", "3e-4", False, {0: 50.0}),
        stability.Cell("6 epochs", "3e-4", True, {}),
    ]
    fig = stability.grid(cells, ("with", "without"), "accuracy", 50.0, "commonest", "seed")
    dots = [trace for trace in fig.data if trace.mode == "markers"]
    assert [list(trace.y) for trace in dots] == [[60.0, 64.0], [50.0]]
    assert [list(trace.y) for trace in fig.data if trace.mode == "lines"] == [[62.0, 62.0], [50.0, 50.0]]
    assert len({trace.marker.symbol for trace in dots}) == 2
    equal = stability.Cell("2 epochs", "3e-4", True, {0: 50.0, 1: 50.0, 2: 60.0, 3: 50.0})
    (beside,) = (t for t in stability.grid([equal], ("", ""), "", None, "", "").data if t.mode == "markers")
    assert len(set(zip(beside.x, beside.y, strict=True))) == 4 and len(set(beside.x)) == 3
    assert fig.layout.annotations[0].text == "2 epochs" and fig.layout.annotations[1].text == "6 epochs"


def test_an_arm_has_a_dot_a_seed_and_its_mean():
    fig = to_write.arms_by_measure({"right": {"a": [0.2, 0.4], "b": [0.5]}, "next": {"b": [0.1]}}, "percent")
    marks = [trace for trace in fig.data if trace.mode == "markers"]
    assert [list(trace.x) for trace in marks] == [[20.0, 40.0], [30.0], [50.0], [50.0], [10.0], [10.0]]
    (number, *_) = (trace for trace in fig.data if trace.mode == "text")
    assert (number.x[0], number.text[0].strip()) == (40.0, "30.0")  # beside the last dot of the row
    assert list(fig.layout.yaxis.ticktext) == ["a", "b"] and list(fig.layout.yaxis2.ticktext) == ["b"]
    assert [note.text for note in fig.layout.annotations] == ["right", "next"]
    assert marks[2].marker.color == marks[4].marker.color  # an arm keeps its colour
    floors = to_write.arms_by_measure({"right": {"a": [0.2]}, "next": {"a": [0.1]}}, "percent", {"next": 50.0})
    assert [(line.x0, line.xref) for line in floors.layout.shapes] == [(50.0, "x2")]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("n", "i"), [(1, 0), (7, 3), (visibility.MAX_WORDS, 0)])
def test_the_figure_draws_every_vector_and_marks_what_reaches(model, n, i):
    fig = visibility.visibility([f"w{j}" for j in range(n)], i, model)
    points = [trace for trace in fig.data if trace.mode == "markers"]
    halves = sum(node.knows == "halves" for node in nodes(model, n))  # a joined output is drawn as its two halves
    assert sum(len(trace.x) for trace in points) == len(nodes(model, n)) + halves
    assert all(0 <= position < n for trace in points for position in trace.customdata)
    solid = [trace for trace in points if "open" not in trace.marker.symbol]
    at_the_bottom = {p for trace in solid for p, y in zip(trace.customdata, trace.y, strict=True) if y == 0}
    assert at_the_bottom == set(reach(model, i, n).words)
    assert output(model, i).position in {p for trace in solid for p in trace.customdata}
    with pytest.raises(ValueError, match="13 words"):
        visibility.visibility(["w"] * 13, 0, model)


def test_shares_have_their_intervals_and_tables_are_told_apart_without_colour():
    (bar,) = what_to_hide.shares({"pieces": (0.5, 0.4, 0.7), "spans": (0.2, 0.1, 0.25)}, "put right").data
    assert list(bar.x) == [0.5, 0.2] and list(bar.y) == ["pieces", "spans"]
    assert list(bar.error_x.array) == pytest.approx([0.2, 0.05])
    assert list(bar.error_x.arrayminus) == pytest.approx([0.1, 0.1])
    fig = what_to_hide.differences({"one": {"A": -0.5, "B": -3.5}, "other": {"A": 0.4}}, "points")
    assert [bar.marker.pattern.shape for bar in fig.data] == ["", "/"]
    assert [list(bar.x) for bar in fig.data] == [[-0.5, -3.5], [0.4]]
    assert (fig.data[0].y, fig.data[0].text) == (("one · A", "one · B"), ("−0.5", "−3.5"))
    low, high = fig.layout.xaxis.range
    assert low < -3.5 and high > 0.4


def test_a_task_is_filled_in_the_stages_that_train_it_and_each_regime_has_its_panel():
    plans = {"new with old": [{"a": 2}, {"a": 1, "b": 3}], "one by one": [{"a": 3}, {"b": 3}]}
    tasks = {"a": "words", "b": "order"}
    fig = what_to_hide.trained_when(plans, tasks, "step", "Each has 4")
    words, order = fig.data
    assert (list(words.base), list(words.x), list(words.customdata)) == ([0, 2, 0], [2, 4, 3], [2, 1, 3])
    assert (list(order.base), list(order.x), list(order.customdata)) == ([2, 3], [4, 3], [3, 3])
    assert list(words.y) == [0, 0, 3] and list(order.y) == [1, 4] and list(fig.layout.yaxis.tickvals) == [-0.45, 2.55]
    assert words.marker.pattern.shape != order.marker.pattern.shape
    marks = {"new with old": {"a": [(0, 0.0), (2, 0.5)], "b": [(0, 0.2)]}, "one by one": {"a": [(0, 0.1)]}}
    fig = what_to_hide.learned(marks, plans, tasks, "step")
    assert [line.name for line in fig.data] == ["words", "order"] * 2
    assert list(fig.data[0].y) == [0.0, 0.5] and not fig.data[3].y
    assert [(shape.x0, shape.xref) for shape in fig.layout.shapes] == [(2, "x"), (3, "x2")]
    assert sum(line.showlegend for line in fig.data) == 2


def test_every_cell_of_both_masks_can_be_clicked_and_the_double_mask_has_a_mark_for_each_pair():
    words = ["new", "york", "city"]
    query = [[False, True, True], [False, False, False], [False, True, False]]
    content = [[i == j or query[i][j] for j in range(3)] for i in range(3)]
    fig = xlnet.two_masks(words, {"a": content, "b": query}, [True, False, False], (1, 0, 2), ("who", ""))
    cells = {tuple(cell): trace.marker.symbol for trace in fig.data for cell in trace.customdata}
    for (panel, i, j), symbol in cells.items():
        assert (symbol == "square") == (content, query)[panel][i][j]
    assert len(cells) == 18 and set(cells.values()) == {"square", "x-thin"}
    frame = fig.layout.shapes[-1]
    assert (frame.x0, frame.y0, frame.xref) == (1.5, -0.5, "x2")
    mask = np.zeros((6, 6), dtype=bool)
    mask[:3, :3], mask[3:, :3] = content, query
    fig = xlnet.double_mask(words, mask, ("content", "query"), "a title")
    drawn = {(int(y), int(x)) for t in fig.data if t.marker.symbol == "square" for x, y in zip(t.x, t.y, strict=True)}
    assert drawn == {(int(i), int(j)) for i, j in np.argwhere(mask)}
    assert sum(len(trace.x) for trace in fig.data) == 36


@pytest.mark.parametrize("percent", [False, True])
def test_a_dot_a_seed_and_their_mean(percent):
    arms = {"BERT": {"at once": [-4.0, -6.0]}, "XLNet": {"at once": [-3.0, -5.0], "in order": [-2.0, -2.0]}}
    fig = xlnet.by_way(arms, "nats", "a title", percent=percent)
    means = {trace.name: list(trace.x) for trace in fig.data if trace.name}
    assert means == {"at once": [-5.0, -4.0], "in order": [-2.0]}
    dots = [list(trace.x) for trace in fig.data if not trace.name]
    assert dots == [[-4.0, -6.0, -3.0, -5.0], [-2.0, -2.0]]


def test_the_memory_stands_in_front_of_the_row():
    words = ("memory", "row", "attention")
    fig = xlnet.looked_at(["it", "was"], ["so", "she"], [0.1, 0.5, 0.0, 0.4], 1, words, "a title")
    assert [(list(bar.x), list(bar.y)) for bar in fig.data] == [([0, 1], [0.1, 0.5]), ([2, 3], [0.0, 0.4])]
    assert list(fig.layout.xaxis.ticktext) == ["it", "was", "so", "<b>she ?</b>"]
    assert len({bar.marker.pattern.shape for bar in fig.data}) == 2


TRAININGS = {"planted": "with", "balanced": "without"}
TESTS = {"planted": "as planted", "balanced": "nothing", "flipped": "flipped"}


def test_a_panel_a_training_and_a_line_a_seed():
    curves = {
        "planted": {"planted": [[(0, 0.5), (4, 1.0)], [(0, 0.4), (4, 0.9)]], "flipped": [[(0, 0.5), (4, 0.0)]]},
        "balanced": {"planted": [[(0, 0.5)]]},
    }
    fig = cues.accuracy_over_steps(curves, TRAININGS, TESTS, 0.5, ("step", "accuracy"))
    assert [list(line.y) for line in fig.data] == [[0.5, 1.0], [0.4, 0.9], [0.5, 0.0], [0.5]]
    assert [line.showlegend for line in fig.data] == [True, False, True, False]
    assert len({line.line.dash for line in fig.data[:3]}) == 2  # told apart without colour


def test_a_bar_is_the_mean_of_its_dots():
    finals = {"planted": {"planted": [1.0, 0.8], "flipped": [0.0]}, "balanced": {"planted": [0.6]}}
    fig = cues.final_accuracy(finals, TRAININGS, TESTS, 0.5, "accuracy")
    bars = {bar.name: list(bar.y) for bar in fig.data if bar.type == "bar"}
    assert bars["as planted"] == [pytest.approx(0.9), 0.6] and bars["flipped"] == [0.0]
    others = [trace for trace in fig.data if trace.type == "scatter"]
    assert [list(dot.y) for dot in others if dot.mode == "markers"] == [[1.0, 0.8, 0.6]]  # one seed needs no dot
    assert [list(words.text) for words in others if words.mode == "text"] == [["90%", "60%"], ["0%"]]
    asked = [note.x for note in fig.layout.annotations]  # not measured: flipped, balanced; both tests that say nothing
    assert len(asked) == 3 and all(note.text == "<b>?</b>" for note in fig.layout.annotations)


def test_where_a_rate_should_be_is_marked():
    rows = [
        checklist.FlipRate("typo", "same", 0.2, (0.1, 0.4), "2 of 10"),
        checklist.FlipRate("negation", "change", 0.5, (0.2, 0.8), "1 of 2"),
        checklist.FlipRate("order", "open", 0.0, (0.0, 0.3), "0 of 9"),
    ]
    fig = checklist.flip_rates(rows, "flipped")
    points, error = [(mark.x[0], mark.y[0]) for mark in fig.data], fig.data[0].error_x
    assert points == [(0.2, 0), (0.0, 0), (0.5, 1), (1.0, 1), (0.0, 2)]
    assert (*error.array, *error.arrayminus) == pytest.approx((0.2, 0.1))
    assert [note.text for note in fig.layout.annotations] == ["2 of 10", "1 of 2", "0 of 9"]


PARTS = {name: name for name in ("heads", "neurons", "layer", "head", "worth", "gone")}
PRUNED = {name: name for name in ("x", "y", "front", "budget", "best", "after", "whole", "heads", "weights")}
FOUND = [("1-1-256", 0.5, 0.60), ("2-4-512", 1.0, 0.80), ("3-<b>-512", 1.5, 0.70), ("4-4-1024", 2.0, 0.85)]


def test_a_head_that_is_gone_is_crossed_and_a_click_on_either_mark_says_which():
    fig = pruning.worth([[0.1, 0.4], [0.2, -0.8]], [[3.0, 1.0, 2.0, 0.0]] * 2, {(1, 0)}, [4, 1], PARTS)
    squares, crosses, strips = fig.data
    assert [list(one) for one in squares.customdata] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert squares.marker.color == pytest.approx((0.125, 0.5, 0.25, -1.0)) and squares.marker.cmax == 1
    assert [list(one) for one in crosses.customdata] == [[1, 0]] and (crosses.x, crosses.y) == (("1",), ("layer 2",))
    assert strips.z[0][0] == 1.0 and strips.y[1] == "layer 2"
    lines = [shape for shape in fig.layout.shapes if shape.type == "line"]
    (veil,) = (shape for shape in fig.layout.shapes if shape.type == "rect")
    assert [line.x0 for line in lines] == [100.0, 25.0] and (veil.x0, veil.x1) == (25.0, 100)
    fig = pruning.worth([[0.0], [0.0]], [[0.0], [0.0]], {(1, 0)}, [1, 0], PARTS)  # a layer that keeps nothing
    assert [shape.x0 for shape in fig.layout.shapes if shape.type == "line"] == [100.0, 0.0]
    # Neurons are drawn as means of equal shares, the largest first.
    assert pruning.binned([1.0, -3.0, *[0.0] * (pruning.BINS - 2)])[:3] == [3.0, 1.0, 0.0]
    assert pruning.binned([]) == [0.0] * pruning.BINS
    assert sum(pruning.binned([2.0] * (2 * pruning.BINS))) == pytest.approx(2.0 * pruning.BINS)


def test_the_best_part_within_the_budget_is_marked_and_those_that_none_beats_are_joined():
    fig = pruning.parts(FOUND, 1.2, "2-4-512", 0.9, "t <i>", PRUNED)
    front, marks, best, after = fig.data
    assert list(front.x) == [0.5, 1.0, 2.0] and list(front.y) == pytest.approx([60, 80, 85])
    assert list(marks.marker.symbol) == ["circle", "circle", "circle-open", "circle-open"]
    assert "3-&lt;b&gt;-512" in marks.text and fig.layout.title.text == "t &lt;i&gt;"
    assert (best.x, best.y) == ((1.0,), (80.0,)) and (after.x, after.y) == ((1.0,), (90.0,))
    assert fig.layout.shapes[0].x0 == 1.2
    for found in (FOUND, []):  # none is fast enough
        assert len(pruning.parts(found, 0.1, "", None, "t", PRUNED).data) == 2


def test_each_kind_has_a_line_after_and_open_marks_before():
    found = {"heads": {0.5: (0.7, 0.8, 0.01), 0.25: (0.75, 0.81, 0.02)}, "weights": {0.5: (0.6, 0.7, 0.0)}}
    fig = pruning.over_shares(found, 0.82, "t", PRUNED)
    after, before, *others = fig.data
    assert list(after.y) == pytest.approx([81, 80]) and list(before.y) == pytest.approx([75, 70])
    assert list(after.error_y.array) == pytest.approx([2, 1]) and "open" in before.marker.symbol
    assert len(others) == 2 and others[0].line.dash != after.line.dash and fig.layout.shapes[0].y0 == 82
    assert len({trace.x[-1] for trace in fig.data}) == 2  # beside each other, not one on the other


def test_the_circuit_lights_one_place_and_one_residual_path():
    names = ["in", "attention", "+", "norm", "mlp", "+", "norm"]
    for step in range(7):
        fig = encoder_decoder.block_circuit(names, [f"n{i}" for i in range(7)], step)
        lit = [shape.line.width == 4 for shape in fig.layout.shapes]
        assert lit == [place == step for place in range(7)]
        assert any(note.text.startswith("<b>") and f"n{step}</b>" in note.text for note in fig.layout.annotations)
        bypasses = [trace for trace in fig.data if trace.mode == "lines+markers" and len(trace.x) == 4]
        assert [trace.line.width == 4 for trace in bypasses] == [step == 2, step == 5]
        places = next(trace for trace in fig.data if trace.mode == "markers")
        assert list(places.customdata) == list(range(7))
    with pytest.raises(ValueError, match="seven"):
        encoder_decoder.block_circuit(names[:3], names[:3], 0)


def test_strips_show_each_vector_on_its_own_scale_and_a_grid_leaves_out_what_is_not_there():
    fig = encoder_decoder.strips({"x": [1.0, -2.0], "y": [0.0, 30.0]}, selected=1)
    maps = [trace for trace in fig.data if trace.type == "heatmap"]
    assert [list(trace.z[0]) for trace in maps] == [[1.0, -2.0], [0.0, 30.0]]
    assert [(trace.zmin, trace.zmax) for trace in maps] == [(-2.0, 2.0), (-30.0, 30.0)]
    assert [list(trace.customdata) for trace in fig.data if trace.type == "scatter"] == [[0, 1]] * 2
    assert all(shape.x0 < 1 < shape.x1 for shape in fig.layout.shapes)
    assert len(encoder_decoder.strips({"zeros": [0.0, 0.0]}, 0).data) == 2
    fig = encoder_decoder.distribution({"a": [1, 2, 3], "b": [4, 5, 6]}, "numbers")
    assert [list(trace.x) for trace in fig.data] == [[1, 2, 3], [4, 5, 6]]
    values = np.array([[0.25, np.nan], [0.5, 0.5]])
    fig = encoder_decoder.grid(values, ["a", "b"], ["c", "d"], selected=(1, None))
    assert list(fig.data[0].text[0]) == [".25", ""] and fig.data[1].text[1] == ""
    assert [list(pair) for pair in fig.data[1].customdata] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    frame = fig.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 1.5, 0.5, 1.5)
    cell = encoder_decoder.grid(values, ["a", "b"], ["c", "d"], selected=(0, 1)).layout.shapes[0]
    assert (cell.x0, cell.x1) == (0.5, 1.5)


def test_squares_show_each_cell_once_and_light_one_row():
    kinds = [[SELF, UNSEEN, UNSEEN], [CROSS, SELF, UNSEEN], [CROSS, SELF, SELF]]
    fig = encoder_decoder.mask_squares(["a", "b", "c"], {"one": kinds}, position=1)
    cells = {tuple(cell): trace for trace in fig.data for cell in trace.customdata}
    both = encoder_decoder.mask_squares(["a", "b", "c"], {"one": kinds, "two": kinds}, 1)
    assert len(cells) == 9 and len(both.data) == 2 * len(fig.data)
    symbols = {SELF: "square", CROSS: "diamond", UNSEEN: "x-thin"}
    for (i, j), trace in cells.items():
        assert trace.marker.symbol == symbols[kinds[i][j]]
        assert (trace.marker.opacity == 1) == (i == 1)


def test_the_curves_are_the_events():
    written = [
        {"event": "started"},
        {"event": "eval", "step": 0, "metrics": {"token_accuracy": 0.1, "sequence_accuracy": 0.0}},
        {"event": "step", "step": 10, "loss": 3.5},
        {"event": "eval", "step": 10, "metrics": {"token_accuracy": 0.6, "sequence_accuracy": 0.2}},
        {"event": "sample", "step": 10, "answers": []},
    ]
    seen = encoder_decoder.Learning.of(written)
    assert seen == encoder_decoder.Learning([(10, 3.5)], [(0, 0.1), (10, 0.6)], [(0, 0.0), (10, 0.2)])
    fig = encoder_decoder.learning(seen, ("loss", "right", "step"), ("words", "sentences"), 100)
    assert [list(trace.y) for trace in fig.data] == [[3.5], [0.1, 0.6], [0.0, 0.2]]
    assert list(fig.layout.xaxis.range) == [0, 100]


def test_scores_stand_beside_chance():
    def drawn(names, scores, chances):
        return head_kinds.kind_scores(names, scores, chances, STEPS, threshold=0.4).data

    bars, chance, texts = drawn("abc", [0.2, 0.7, np.nan], [0.1, 0.8, np.nan])
    assert list(bars.x[:2]) == [0.2, 0.7] and list(chance.x[:2]) == [0.1, 0.8]
    assert list(bars.marker.color) == [BLUE, VERMILION, BLUE]
    assert list(drawn("a", [0.3], [0.1])[0].marker.color) == [BLUE]  # below the threshold
    assert list(texts.text) == ["20.0%", "70.0%", ""]
    assert texts.x[1] > 0.8 and 0.2 < texts.x[0] < 0.25  # beside the mark, not on it
    assert 0.1 < drawn("a", [0.1], [1.0])[2].x[0] < 0.15  # a mark that is far away moves no number


def test_the_dearest_head_is_first_with_two_standard_errors_and_of_many_the_two_ends_and_the_chosen_one():
    fig = head_kinds.ranking(["a", "b", "c"], [0.1, 0.5, -0.2], [0.01, 0.02, np.nan], "loss", selected=2)
    (points,) = fig.data
    assert list(points.x) == [0.5, 0.1, -0.2] and list(points.error_x.array) == [0.04, 0.02, 0]
    assert [place[0] for place in points.customdata] == [1, 0, 2]
    assert fig.layout.yaxis.ticktext == ("b", "a", "<b>c</b>")
    assert points.marker.symbol[2] == "diamond"

    def drawn(selected, most):
        names = [f"h{i}" for i in range(20)]
        return head_kinds.ranking(names, np.linspace(1, 0, 20), np.zeros(20), "loss", selected=selected, most=most)

    assert [place[0] for place in drawn(10, 8).data[0].customdata] == [0, 1, 2, 3, 4, 5, 10, 18, 19]
    assert len(drawn(19, 8).data[0].x) == 8 and drawn(19, 8).layout.yaxis.ticktext[-1] == "<b>h19</b>"
    assert len(drawn(None, 20).data[0].x) == 20


def test_a_found_word_is_a_line_from_the_rule_to_the_head():
    ours = [head_kinds.FoundWord("3.1", 0.9, 0.5), head_kinds.FoundWord("1.2", 0.4, 0.6)]
    theirs = [head_kinds.FoundWord("8.10", 0.8, 0.4), None]
    fig = head_kinds.found_words("ab", ours, theirs, ("ours", "theirs", "rule"), selected=1)
    lines, points, texts, their_lines, their_points, _their_texts, rules, anywhere = fig.data
    assert list(lines.x) == [0.5, 0.9, None, 0.6, 0.4, None] and list(points.x) == [0.9, 0.4]
    assert list(their_points.x) == [0.8] and list(their_lines.x) == [0.4, 0.8, None]
    assert [row[0] for row in points.customdata] == [0, 1] and [row[0] for row in their_points.customdata] == [0]
    assert list(rules.x) == [0.5, 0.6, 0.4] and [row[0] for row in rules.customdata] == [0, 1, 0]
    assert list(texts.text) == ["90% · 3.1", "40% · 1.2"]
    assert all(row[0] == y for row, y in zip(anywhere.customdata, anywhere.y, strict=True)) and max(anywhere.x) > 1.2
    assert texts.x[0] > 0.9 and texts.x[1] > 0.6  # to the right of both marks
    assert (fig.layout.shapes[0].y0, fig.layout.shapes[0].y1) == (0.5, 1.5)
