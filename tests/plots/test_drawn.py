"""What a figure draws is what it was given: the numbers, which of them are marked, and how they are told apart.
(That no text becomes markup is asked of all figures in test_renderers.)"""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from minibert.finetune.layer_choice import reading
from minibert.inside.visibility import MODELS, nodes, output, reach
from plots import (
    albert,
    attribution,
    cone,
    confusion,
    dialogue,
    embeddings_sum,
    encoder_decoder,
    features,
    knowledge,
    next_sentence,
    nezha,
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
        (nezha.weight_paths, (LINES, STEPS), [0, 1], []),
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
        (nezha.layer_shares, ("qk", {"LAMB": ONE}, "share"), [(ONE, [0, 1])], None),
        (service.rates, ([1, 8], LINES, *STEPS), [(["1", "8"], ONE), (["1", "8"], TWO)], None),
        (stability.layer_rates, ("ab", [0, 3e-4], "frozen", "rate"), [([0, 3e-4], [0, 1])], ["frozen", "3.0e-04"]),
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
    assert list(bars) == ["words", "attention", "network"]
    assert list(bars["attention"].base) == [3.0, 4.2, 0.5] and list(bars["attention"].x) == [0.4] * 3
    assert list(bars["attention"].y) == [0, 0, 1]
    assert list(bars["network"].base) == [3.4]
    assert [note.text for note in fig.layout.annotations] == ["<b>4.60 M</b>", "<b>900 k</b>"]
    assert bars["words"].hovertext[0] == "words: 3,000,000"


NAMES = {"integrated": "Integrated", "rollout": "Rollout", "random": "random"}


def test_each_method_is_scaled_by_its_own_largest():
    values = {"integrated": np.array([2.0, -4.0]), "rollout": np.array([0.1, 0.2])}
    fig = attribution.word_grid(["a", "b"], values, NAMES)
    assert np.array(fig.data[0].z) == pytest.approx(np.array([[0.5, 0.5], [-1.0, 1.0]]))
    assert fig.data[0].customdata[1][0][1] == -4.0
    assert [note.text for note in fig.layout.annotations] == ["+2.00", "+0.10", "-4.00", "+0.20"]
    assert attribution.word_grid(["a"], {"integrated": np.zeros(1)}, NAMES).data[0].z[0][0] == 0  # nothing found


def test_what_has_no_correlation_is_left_empty():
    fig = attribution.agreement_matrix(np.array([[1.0, np.nan], [np.nan, 1.0]]), ["a", "b"])
    assert [note.text for note in fig.layout.annotations] == ["1.00", "–", "–", "1.00"]


def test_random_orders_are_a_mean_and_a_band():
    random = np.array([[0.8, 0.4, 0.1], [0.8, 0.6, 0.1]])
    fig = attribution.deletion_curves({"rollout": np.array([0.8, 0.2, 0.1])}, random, NAMES, ("x", "y", "random"))
    band, mean, line = fig.data
    assert list(mean.y) == pytest.approx([0.8, 0.5, 0.1])
    spread = np.std([0.4, 0.6], ddof=1)
    assert band.y[1] == pytest.approx(0.5 + spread) and band.y[4] == pytest.approx(0.5 - spread)
    assert (line.name, list(line.y)) == ("Rollout", [0.8, 0.2, 0.1])


def test_falls_show_the_mean_and_its_standard_error():
    fig = attribution.falls({"integrated": [0.2, 0.4], "random": [0.1]}, NAMES, "fall")
    assert fig.data[1].x == (pytest.approx(0.3),)
    assert fig.data[1].error_x.array == (pytest.approx(np.std([0.2, 0.4], ddof=1) / np.sqrt(2)),)
    assert fig.data[3].error_x.array == (0.0,)


def test_the_slope_is_drawn_through_the_end_of_the_path():
    titles = ["left", "right", "share", "score", "steps", "error", "path", "slope"]
    fig = attribution.path_and_error(np.array([0.0, 3.0, 4.0]), 1.0, (2, 4), {"rule": [0.5, 0.1]}, 4, titles)
    line, tangent, errors = fig.data
    assert list(line.x) == [0, 0.5, 1]
    assert list(tangent.y) == [3.0, 3.5, 4.0]
    assert list(errors.y) == [0.5, 0.1]
    assert fig.layout.shapes[0].x0 == 4


POINTS = np.array([[0.1, 0.2], [0.0, -0.4], [-0.6, 0.8], [0.6, 0.8]])


def test_points_and_arrows_stand_where_they_are_in_circles_of_one_scale():
    panels = [cone.Cloud("as it is", POINTS, 0.5, 0.28), cone.Cloud("after", -POINTS, None, -0.1)]
    fig = cone.clouds(panels, ["one", "two", "a", "b"], "t", ("mean", "yours"))
    grey, first, second = fig.data[:3]
    assert list(grey.x) == [0.1, 0.0]
    assert (list(first.x), list(first.y)) == ([0, -0.6], [0, 0.8]) and list(second.x) == [0, 0.6]
    assert first.line.dash != second.line.dash and first.marker.symbol[1] != second.marker.symbol[1]
    assert len([shape for shape in fig.layout.shapes if shape.type == "circle"]) == 2
    assert (fig.layout.yaxis.scaleanchor, fig.layout.yaxis2.scaleanchor) == ("x", "x2")
    words = [note.text for note in fig.layout.annotations]
    assert words[1] == "mean <b>0.50</b> · yours <b>0.28</b>" and words[3] == "yours <b>−0.10</b>"
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


def test_the_path_goes_through_the_tags():
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    fig = dialogue.tag_path(["wake", "me"], ["O", "B-time"], probs, [0, 1], "title")
    heat, path = fig.data
    assert np.array(heat.z).T.tolist() == probs.tolist() and list(path.y) == [0, 1]
    assert list(fig.layout.yaxis.ticktext) == ["O", "B-time"]


def test_steps_have_zero_in_the_middle_and_shares_are_drawn():
    probs = np.array([[0.5, -2.0], [1.0, 0.0]])
    heat = dialogue.step_matrix(["O", "B"], probs, ("before", "behind"), "title").data[0]
    assert (heat.zmin, heat.zmax) == (-2.0, 2.0)
    assert dialogue.step_matrix(["O"], np.zeros((1, 1)), ("a", "b"), "t").data[0].zmax == 1.0
    assert np.array(dialogue.share_matrix(["a", "__CLS__"], abs(probs), "t").data[0].z).tolist() == abs(probs).tolist()
    assert list(dialogue.intents(["a", "b"], [0.9, 0.1], "confidence", "t").data[0].x) == pytest.approx([0.9, 0.1])


def test_strips_share_one_scale_around_zero():
    rows = {"token": np.array([0.1, -0.5]), "sum": np.array([0.3, 0.2])}
    (strip,) = embeddings_sum.summands(rows, "dimension").data
    assert strip.zmin == -0.5 and strip.zmax == 0.5
    np.testing.assert_array_equal(strip.z, [[0.1, -0.5], [0.3, 0.2]])
    assert list(strip.y) == ["token", "sum"]
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
    fig = features.stack(TOKENS, reading(layers, 4, 8, pooling=pooling), 4, frozen, ROWS, "two classes")
    colour = features.FROZEN if frozen else features.TRAINED
    filled = [trace for trace in fig.data if trace.mode == "markers" and trace.marker.color == colour]
    places = {place for trace in filled for place in zip(trace.x, trace.y, strict=True)}
    assert {place for place in places if place[1] <= 4} == expected
    assert len([place for place in places if place[1] > 4]) == (3 if pooling is None else 1)


def test_bars_show_runs_beside_recorded_ones():
    fig = features.bars([features.Bar("a", 40.0, (39.0, 41.0)), features.Bar("b", None)], "F1", ("now", "before"))
    assert list(fig.data[0].x) == [40.0, None]
    assert list(fig.data[1].x) == [39.0, 41.0] and list(fig.data[1].y) == [0, 0]


def test_a_bilstm_is_a_row_more():
    plain, more = (
        features.stack(TOKENS, reading("last", 4, 8, bilstm=bilstm), 4, True, ROWS, "a tag").layout.yaxis
        for bilstm in (False, True)
    )
    assert len(more.tickvals) == len(plain.tickvals) + 1
    assert "BiLSTM" in more.ticktext and "BiLSTM" not in plain.ticktext


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


def test_a_judgement_is_split_in_two_and_written_out():
    fig = next_sentence.judgement({"A, then B": 0.75, "B, then A": 0.2})
    assert [list(bar.x) for bar in fig.data] == [[0.75, 0.2], [0.25, 0.8]]
    assert [note.text for note in fig.layout.annotations] == ["<b>75.0%</b>", "<b>20.0%</b>"]


def test_both_judges_stand_on_the_row_of_the_kind():
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
    assert fig.layout.yaxis.ticktext[1] == "other,<br>far"


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


def test_numbers_that_are_no_shares_are_written_as_they_are():
    looks = nezha.OPTIMIZERS
    fig = nezha.over_lengths({"a": {32: [4.5]}, "b": {32: [3.5]}}, None, STEPS, number=".2f", looks=looks)
    assert fig.layout.yaxis.tickformat == ".2f" and not fig.layout.shapes
    assert [trace.line.color for trace in fig.data if trace.name] == [looks[0][0], looks[1][0]]
    ratios = nezha.layer_shares(["q", "k"], {"AdamW": [0.2, 5.0]}, "ratio", percent=False)
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


def test_losses_and_their_mean():
    fig = training_options.loss_spread({"1 mask": [1.0, 3.0], "2 masks": [2.0]}, "loss")
    assert list(fig.data[0].x) == [1.0, 3.0] and list(fig.data[1].x) == [2.0, 2.0]


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
    assert {note.text for note in fig.layout.annotations} == {"75%: 7", "92%: 20"}
    beyond_all = training_options.share_within([5, 7], 512, {}, STEPS, "read")
    assert beyond_all.data[0].y[-1] == 1 and beyond_all.layout.xaxis.range[1] > 512


def test_where_no_row_fits_nothing_is_drawn():
    fig = training_options.rows_that_fit((64, 512), {"fused": [9, 0]}, {"measured": {64: 3, 512: 0}}, 64, STEPS)
    assert [list(trace.x) for trace in fig.data] == [[64], [64]]


def test_step_lengths_draw_the_factor_and_mark_its_peak():
    fig = stability.step_lengths([1.0, 1.0, 1.0], [3.0, 6.0, 2.0], ("with", "without"), ("step", "length", "factor"))
    assert list(fig.data[2].y) == [3.0, 6.0, 2.0]
    assert [trace.text[0] for trace in fig.data if trace.text] == ["× 3.0", "× 6.0"]


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
    assert fig.layout.annotations[0].text == "2 epochs" and fig.layout.annotations[1].text == "6 epochs"


def test_groups_have_means_and_standard_errors():
    fig = stability.two_groups({"A": [1.0, 3.0], "B": [2.0]}, {"A": (2.0, 1.0), "B": (2.0, 0.0)}, "accuracy")
    assert fig.data[1].x[0] == pytest.approx(2.0) and fig.data[1].error_x.array[0] == 1.0


def test_an_arm_has_a_dot_a_seed_and_its_mean():
    fig = to_write.arms_by_measure({"right": {"a": [0.2, 0.4], "b": [0.5]}, "next": {"b": [0.1]}}, "percent")
    assert [list(trace.x) for trace in fig.data] == [[20.0, 40.0], [30.0], [50.0], [50.0], [10.0], [10.0]]
    assert list(fig.layout.yaxis.ticktext) == ["a", "b"] and list(fig.layout.yaxis2.ticktext) == ["b"]
    assert [note.text for note in fig.layout.annotations] == ["right", "next"]
    assert fig.data[2].marker.color == fig.data[4].marker.color  # an arm keeps its colour


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


def test_too_many_words():
    with pytest.raises(ValueError, match="13 words"):
        visibility.visibility(["w"] * 13, 0, "BERT")


def test_shares_have_their_intervals():
    (bar,) = what_to_hide.shares({"pieces": (0.5, 0.4, 0.7), "spans": (0.2, 0.1, 0.25)}, "put right").data
    assert list(bar.x) == [0.5, 0.2] and list(bar.y) == ["pieces", "spans"]
    assert list(bar.error_x.array) == pytest.approx([0.2, 0.05])
    assert list(bar.error_x.arrayminus) == pytest.approx([0.1, 0.1])


def test_tables_are_told_apart_without_colour():
    fig = what_to_hide.differences({"one": {"A": -0.5, "B": -3.5}, "other": {"A": 0.4}}, "points")
    assert [bar.marker.pattern.shape for bar in fig.data] == ["", "/"]
    assert [list(bar.x) for bar in fig.data] == [[-0.5, -3.5], [0.4]]
    assert list(fig.data[0].y) == ["one · A", "one · B"]
    assert list(fig.data[0].text) == ["−0.5", "−3.5"]
    low, high = fig.layout.xaxis.range
    assert low < -3.5 and high > 0.4


PLANS = {"new with old": [{"a": 2}, {"a": 1, "b": 3}], "one by one": [{"a": 3}, {"b": 3}]}
TASKS = {"a": "words", "b": "order"}


def test_a_task_is_filled_in_the_stages_that_train_it():
    fig = what_to_hide.trained_when(PLANS, TASKS, "step")
    words, order = fig.data
    assert (list(words.base), list(words.x), list(words.customdata)) == ([0, 2, 0], [2, 4, 3], [2, 1, 3])
    assert (list(order.base), list(order.x), list(order.customdata)) == ([2, 3], [4, 3], [3, 3])
    assert list(words.y) == [0, 0, 3] and list(order.y) == [1, 4] and list(fig.layout.yaxis.tickvals) == [0.5, 3.5]
    assert words.marker.pattern.shape != order.marker.pattern.shape


def test_each_regime_has_its_panel_and_its_stages():
    marks = {"new with old": {"a": [(0, 0.0), (2, 0.5)], "b": [(0, 0.2)]}, "one by one": {"a": [(0, 0.1)]}}
    fig = what_to_hide.learned(marks, PLANS, TASKS, "step")
    assert [line.name for line in fig.data] == ["words", "order"] * 2
    assert list(fig.data[0].y) == [0.0, 0.5] and not fig.data[3].y
    assert [(shape.x0, shape.xref) for shape in fig.layout.shapes] == [(2, "x"), (3, "x2")]
    assert sum(line.showlegend for line in fig.data) == 2


WORDS = ["new", "york", "city"]
QUERY = [[False, True, True], [False, False, False], [False, True, False]]
CONTENT = [[i == j or QUERY[i][j] for j in range(3)] for i in range(3)]


def test_every_cell_of_both_masks_can_be_clicked():
    fig = xlnet.two_masks(WORDS, {"a": CONTENT, "b": QUERY}, [True, False, False], (1, 0, 2), ("who", ""))
    cells = {tuple(cell): trace.marker.symbol for trace in fig.data for cell in trace.customdata}
    for (panel, i, j), symbol in cells.items():
        assert (symbol == "square") == (CONTENT, QUERY)[panel][i][j]
    assert len(cells) == 18 and set(cells.values()) == {"square", "x-thin"}
    frame = fig.layout.shapes[-1]
    assert (frame.x0, frame.y0, frame.xref) == (1.5, -0.5, "x2")


def test_the_double_mask_has_a_mark_for_each_pair():
    mask = np.zeros((6, 6), dtype=bool)
    mask[:3, :3], mask[3:, :3] = CONTENT, QUERY
    fig = xlnet.double_mask(WORDS, mask, ("content", "query"), "a title")
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
