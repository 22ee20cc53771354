"""The figures of attention: every cell is the number it was given, and says so when it is clicked."""

import numpy as np

from plots import attention as figures
from plots import attention_experiments as experiments

TOKENS = ["[CLS]", "the", "cat", "##s", "sat", "[SEP]", "[PAD]"]
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(7, 7))
PROBS = np.exp(SCORES) / np.exp(SCORES).sum(-1, keepdims=True)
VECTORS = RNG.normal(size=(7, 5))


def clicks(figure):
    """What the squares say when they are clicked, by where they are."""
    return {
        (trace.yaxis or "y", y, x): list(data)
        for trace in figure.data
        if trace.customdata is not None and trace.type == "scatter"
        for x, y, data in zip(trace.x, trace.y, trace.customdata, strict=True)
    }


def test_every_cell_of_a_matrix_can_be_clicked_and_the_chosen_one_is_framed():
    figure = figures.attention_matrix(TOKENS, PROBS, selected=(1, 2))
    assert clicks(figure) == {("y", i, j): [i, j, PROBS[i, j]] for i in range(7) for j in range(7)}
    assert np.array_equal(np.array(figure.data[0].z, dtype=float), PROBS)
    assert {(s.y0, s.x0) for s in figure.layout.shapes} == {(0.5, 1.5)}
    assert figure.layout.yaxis.ticktext[1] == "<b>the</b>" and figure.layout.xaxis.ticktext[2] == "<b>cat</b>"


def test_every_cell_of_the_vectors_can_be_clicked_and_their_products_are_the_bars():
    figure = figures.vectors(TOKENS, {"Q": VECTORS, "K": 2 * VECTORS})
    found = clicks(figure)
    assert len(found) == 2 * 7 * 5 and found["y2", 3, 4] == [1, 3, 4, 2 * VECTORS[3, 4]]
    assert figure.data[2].zmax == figure.data[0].zmax == 2 * np.abs(VECTORS).max()  # one scale for both
    figure = figures.dot_product(VECTORS[0], VECTORS[1], ("q", "k", "q × k"))
    assert np.allclose(figure.data[0].y, VECTORS[0] * VECTORS[1])
    assert [np.array(strip.z).tolist() for strip in figure.data[1:]] == [[VECTORS[1].tolist()], [VECTORS[0].tolist()]]


def test_closed_cells_are_shown_as_minus_infinity():
    masked = np.where(np.arange(7) < 5, SCORES, -np.inf)
    figure = figures.attention_matrix(TOKENS, masked, kind="scores")
    assert np.isnan(np.array(figure.data[0].z, dtype=float)[:, 5:]).all()
    assert [note.text for note in figure.layout.annotations] == ["−∞"] * 14
    assert figure.data[0].zmax == np.abs(SCORES[:, :5]).max()


def test_all_heads_lie_where_their_squares_are():
    probs = RNG.random((2, 3, 7, 7))
    figure = figures.all_heads(probs)
    picture = np.array(figure.data[0].z, dtype=float)
    for (_, y, x), (layer, head) in clicks(figure).items():
        tile = picture[round(y - 3) : round(y + 4), round(x - 3) : round(x + 4)]
        assert np.array_equal(tile, probs[layer, head])
    assert len(clicks(figure)) == 6


def test_paths_mark_the_steps_between_and_a_schedule_shows_all_at_once_beside_one_by_one():
    figure = experiments.paths(TOKENS, 5, 2, ("attention", "chain"))
    bold = [note.x for note in figure.layout.annotations if note.arrowwidth == 5]
    assert [round(x - 0.72) for x in bold] == [2, 3, 4]
    at_once, one_by_one = experiments.schedule(TOKENS, ("attention", "chain"), "step").data
    assert list(at_once.base) == [0] * 7 and list(one_by_one.base) == list(range(7))


def test_numbers_and_labels():
    numbers = {(-0.5, 2): "−0.50", (-0.0001, 2): "0.00", (1234.5, 1): "1,234.5", (-np.inf, 2): "−∞", (0.1, 2): "0.10"}
    assert {number: figures.number(*number) for number in numbers} == numbers
    labels = {"<b>": "&lt;b&gt;", "a" * 30: "a" * 12 + "…", "中" * 30: "中" * 6 + "…"}  # short by width, and literal
    assert {text: figures.token_label(text) for text in labels} == labels
    assert figures.token_label("cat", bold=True) == "<b>cat</b>"
