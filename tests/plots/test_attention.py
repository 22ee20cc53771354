import json

import numpy as np
import pytest

from plots import attention as figures
from plots import attention_experiments as experiments
from plots.theme import SMALL, apply

TOKENS = ["[CLS]", "the", "cat", "##s", "</script><img src=x onerror=alert(1)>", "[SEP]", "[PAD]"]
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(7, 7))
PROBS = np.exp(SCORES) / np.exp(SCORES).sum(-1, keepdims=True)
VECTORS = RNG.normal(size=(7, 5))


def every_figure():
    yield figures.attention_matrix(TOKENS, PROBS, selected=(1, 2))
    masked = SCORES.copy()
    masked[:, 6] = -np.inf
    yield figures.attention_matrix(TOKENS, masked, kind="scores")
    yield figures.vectors(TOKENS, {"Q": VECTORS, "K": VECTORS}, selected=(1, 2, 3))
    yield figures.dot_product(VECTORS[0], VECTORS[1], ("q", "<b>k", "q × k"))
    yield figures.token_bars(TOKENS, VECTORS[:, 0], [f"{v:.2f} <i>" for v in VECTORS[:, 0]], selected=2)
    yield figures.all_heads(np.stack([[PROBS] * 3] * 2), selected=(1, 2))
    yield figures.compared_words(["cat", "<b>"], [0.5, 0.1], [0.2, 0.3], ("as trained", "<b>"))
    yield experiments.curves(
        [1, 2, 4], {"a": [1, 2, 3], "<b>": [3, 2, 1]}, xaxis="T", yaxis="y", here=2, marks={2: "T=H"}
    )
    yield experiments.order_differences(TOKENS, np.ones(7), np.zeros(7), ("with", "without"))
    yield experiments.paths(TOKENS, 1, 4, ("attention", "chain"))
    yield experiments.schedule(TOKENS, ("attention", "chain"), "step")
    yield experiments.weight_and_effect(TOKENS, PROBS[0], PROBS[1], axes=("weight", "effect"), marked={1: "the"})


@pytest.mark.parametrize("figure", every_figure(), ids=lambda f: f.data[0].type)
def test_small_type_and_markup_do_not_get_in(figure):
    spec = json.loads(apply(figure).to_json())

    def walk(node, path=""):
        if isinstance(node, dict):
            for key, value in node.items():
                if key == "size" and path.endswith("font"):
                    assert value >= SMALL, path
                walk(value, f"{path}.{key}")
        elif isinstance(node, list):
            for value in node:
                walk(value, path)
        elif isinstance(node, str):
            assert "<img" not in node and "</script" not in node and "<i>" not in node, (path, node)

    walk(spec)


def clicks(figure):
    """What the squares say when they are clicked, by where they are."""
    return {
        (trace.yaxis or "y", y, x): list(data)
        for trace in figure.data
        if trace.customdata is not None and trace.type == "scatter"
        for x, y, data in zip(trace.x, trace.y, trace.customdata, strict=True)
    }


def test_every_cell_of_a_matrix_can_be_clicked_and_says_which_it_is():
    figure = figures.attention_matrix(TOKENS, PROBS)
    assert clicks(figure) == {("y", i, j): [i, j, PROBS[i, j]] for i in range(7) for j in range(7)}
    assert np.array_equal(np.array(figure.data[0].z, dtype=float), PROBS)


def test_every_cell_of_the_vectors_can_be_clicked():
    figure = figures.vectors(TOKENS, {"Q": VECTORS, "K": 2 * VECTORS})
    found = clicks(figure)
    assert len(found) == 2 * 7 * 5
    assert found[("y2", 3, 4)] == [1, 3, 4, 2 * VECTORS[3, 4]]
    assert figure.data[2].zmax == figure.data[0].zmax == 2 * np.abs(VECTORS).max()  # one scale for both


def test_closed_cells_are_shown_as_minus_infinity():
    masked = SCORES.copy()
    masked[:, 5:] = -np.inf
    figure = figures.attention_matrix(TOKENS, masked, kind="scores")
    assert np.isnan(np.array(figure.data[0].z, dtype=float)[:, 5:]).all()
    assert [note.text for note in figure.layout.annotations] == ["−∞"] * 14
    assert figure.data[0].zmax == np.abs(SCORES[:, :5]).max()


def test_the_chosen_cell_is_framed():
    figure = figures.attention_matrix(TOKENS, PROBS, selected=(1, 2))
    assert {(s.y0, s.x0) for s in figure.layout.shapes} == {(0.5, 1.5)}
    assert figure.layout.yaxis.ticktext[1] == "<b>the</b>" and figure.layout.xaxis.ticktext[2] == "<b>cat</b>"


def test_all_heads_lie_where_their_squares_are():
    probs = RNG.random((2, 3, 7, 7))
    figure = figures.all_heads(probs)
    picture = np.array(figure.data[0].z, dtype=float)
    for (_, y, x), (layer, head) in clicks(figure).items():
        tile = picture[round(y - 3) : round(y + 4), round(x - 3) : round(x + 4)]
        assert np.array_equal(tile, probs[layer, head])
    assert len(clicks(figure)) == 6


def test_the_products_are_the_bars():
    figure = figures.dot_product(VECTORS[0], VECTORS[1], ("q", "k", "q × k"))
    assert np.allclose(figure.data[0].y, VECTORS[0] * VECTORS[1])
    assert [np.array(strip.z).tolist() for strip in figure.data[1:]] == [[VECTORS[1].tolist()], [VECTORS[0].tolist()]]


def test_paths_mark_the_steps_between():
    figure = experiments.paths(TOKENS, 5, 2, ("attention", "chain"))
    bold = [note.x for note in figure.layout.annotations if note.arrowwidth == 5]
    assert [round(x - 0.72) for x in bold] == [2, 3, 4]


def test_schedule_shows_all_at_once_beside_one_by_one():
    figure = experiments.schedule(TOKENS, ("attention", "chain"), "step")
    assert list(figure.data[0].base) == [0] * 7
    assert list(figure.data[1].base) == list(range(7))


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(-0.5, 2, "−0.50"), (-0.0001, 2, "0.00"), (1234.5, 1, "1,234.5"), (-np.inf, 2, "−∞"), (0.1, 2, "0.10")],
)
def test_numbers(value, decimals, text):
    assert figures.number(value, decimals) == text


def test_labels_are_short_by_width_and_literal():
    assert figures.token_label("<b>") == "&lt;b&gt;"
    assert figures.token_label("a" * 30) == "a" * 12 + "…"
    assert figures.token_label("中" * 30) == "中" * 6 + "…"
    assert figures.token_label("cat", bold=True) == "<b>cat</b>"
