"""The figures' data against what they were given."""

import numpy as np
import pytest

from plots.encoder_decoder import (
    CROSS,
    SELF,
    UNSEEN,
    Learning,
    block_circuit,
    distribution,
    grid,
    learning,
    mask_squares,
    next_words,
    strips,
)

HOSTILE = "<b>x</b>"


def texts(fig) -> list[str]:
    return [note.text for note in fig.layout.annotations]


def test_the_circuit_lights_one_place_and_one_residual_path():
    names = [HOSTILE, "attention", "+", "norm", "mlp", "+", "norm"]
    for step in range(7):
        fig = block_circuit(names, [f"n{i}" for i in range(7)], step)
        lit = [shape.line.width == 4 for shape in fig.layout.shapes]
        assert lit == [place == step for place in range(7)]
        assert [text for text in texts(fig) if text.startswith("<b>") and f"n{step}</b>" in text]
        bypasses = [trace for trace in fig.data if trace.mode == "lines+markers" and len(trace.x) == 4]
        assert [trace.line.width == 4 for trace in bypasses] == [step == 2, step == 5]
        places = next(trace for trace in fig.data if trace.mode == "markers")
        assert list(places.customdata) == list(range(7))
        assert not any("<b>x" in text for text in texts(fig))
    with pytest.raises(ValueError, match="seven"):
        block_circuit(names[:3], names[:3], 0)


def test_strips_show_each_vector_on_its_own_scale():
    fig = strips({"x": [1.0, -2.0], "y": [0.0, 30.0]}, selected=1)
    maps = [trace for trace in fig.data if trace.type == "heatmap"]
    assert [list(trace.z[0]) for trace in maps] == [[1.0, -2.0], [0.0, 30.0]]
    assert [(trace.zmin, trace.zmax) for trace in maps] == [(-2.0, 2.0), (-30.0, 30.0)]
    assert [list(trace.customdata) for trace in fig.data if trace.type == "scatter"] == [[0, 1]] * 2
    assert all(shape.x0 < 1 < shape.x1 for shape in fig.layout.shapes)
    assert len(strips({"zeros": [0.0, 0.0]}, 0).data) == 2


def test_distribution_keeps_every_number():
    fig = distribution({"a": [1, 2, 3], "b": [4, 5, 6]}, "numbers")
    assert [list(trace.x) for trace in fig.data] == [[1, 2, 3], [4, 5, 6]]


def test_a_grid_leaves_out_what_is_not_there():
    values = np.array([[0.25, np.nan], [0.5, 0.5]])
    fig = grid(values, ["a", HOSTILE], ["c", "d"], selected=(1, None))
    assert fig.data[0].text[0][1] == ""
    assert fig.data[0].text[0][0] == ".25"
    assert [list(pair) for pair in fig.data[1].customdata] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert fig.data[1].text[1] == ""
    assert fig.layout.yaxis.ticktext[1] == "&lt;b&gt;x&lt;/b&gt;"
    frame = fig.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 1.5, 0.5, 1.5)
    cell = grid(values, ["a", "b"], ["c", "d"], selected=(0, 1)).layout.shapes[0]
    assert (cell.x0, cell.x1) == (0.5, 1.5)


def test_squares_show_each_cell_once_and_light_one_row():
    kinds = [[SELF, UNSEEN, UNSEEN], [CROSS, SELF, UNSEEN], [CROSS, SELF, SELF]]
    fig = mask_squares(["a", "b", "c"], {"one": kinds}, position=1)
    cells = {tuple(cell): trace for trace in fig.data for cell in trace.customdata}
    assert len(cells) == 9
    assert len(mask_squares(["a", "b", "c"], {"one": kinds, "two": kinds}, 1).data) == 2 * len(fig.data)
    for (i, j), trace in cells.items():
        symbol = {SELF: "square", CROSS: "diamond", UNSEEN: "x-thin"}[kinds[i][j]]
        assert trace.marker.symbol == symbol
        assert (trace.marker.opacity == 1) == (i == 1)


EVENTS = [
    {"event": "started"},
    {"event": "eval", "step": 0, "metrics": {"token_accuracy": 0.1, "sequence_accuracy": 0.0}},
    {"event": "step", "step": 10, "loss": 3.5},
    {"event": "eval", "step": 10, "metrics": {"token_accuracy": 0.6, "sequence_accuracy": 0.2}},
    {"event": "sample", "step": 10, "answers": []},
]


def test_the_curves_are_the_events():
    seen = Learning.of(EVENTS)
    assert seen == Learning([(10, 3.5)], [(0, 0.1), (10, 0.6)], [(0, 0.0), (10, 0.2)])
    fig = learning(seen, ("loss", "right", "step"), ("words", "sentences"), 100)
    assert [list(trace.y) for trace in fig.data] == [[3.5], [0.1, 0.6], [0.0, 0.2]]
    assert list(fig.layout.xaxis.range) == [0, 100]


def test_next_words_are_bars_with_their_numbers():
    fig = next_words(["a", HOSTILE], [0.9, 0.0004])
    assert list(fig.data[0].x) == [0.9, 0.0004]
    assert list(fig.data[0].text) == ["90.0%", "< 0.1%"]
    assert fig.layout.yaxis.ticktext[1] == "&lt;b&gt;x&lt;/b&gt;"
