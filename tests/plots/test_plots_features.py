"""The stack shows what is read, and the bars and curves their numbers."""

import pytest

from minibert.finetune.layer_choice import reading
from plots.features import FROZEN, TRAINED, Bar, bars, stack, storage

ROWS = {"embeddings": "embeddings", "layer": "layer {n}", "read": "read", "bilstm": "BiLSTM", "new": "new layer"}
TOKENS = ["[CLS]", "<b>", "[SEP]"]


def filled(fig, colour) -> set[tuple[float, float]]:
    return {
        (x, y)
        for trace in fig.data
        if trace.mode == "markers" and trace.marker.color == colour
        for x, y in zip(trace.x, trace.y, strict=True)
    }


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
    fig = stack(TOKENS, reading(layers, 4, 8, pooling=pooling), 4, frozen, ROWS, "two classes")
    colour = FROZEN if frozen else TRAINED
    assert {at for at in filled(fig, colour) if at[1] <= 4} == expected
    above = {at for at in filled(fig, colour) if at[1] > 4}
    assert len(above) == (3 if pooling is None else 1)


def test_a_token_is_never_markup_and_a_bilstm_is_a_row_more():
    plain = stack(TOKENS, reading("last", 4, 8), 4, True, ROWS, "a tag")
    more = stack(TOKENS, reading("last", 4, 8, bilstm=True), 4, True, ROWS, "a tag")
    assert plain.layout.xaxis.ticktext[1] == "&lt;b&gt;"
    assert len(more.layout.yaxis.tickvals) == len(plain.layout.yaxis.tickvals) + 1
    assert "BiLSTM" in more.layout.yaxis.ticktext and "BiLSTM" not in plain.layout.yaxis.ticktext


def test_bars_show_runs_beside_recorded_ones():
    fig = bars([Bar("a", 40.0, (39.0, 41.0)), Bar("b", None)], "F1", ("now", "before"))
    assert list(fig.data[0].x) == [40.0, None]
    assert list(fig.data[1].x) == [39.0, 41.0] and list(fig.data[1].y) == [0, 0]


def test_storage_marks_the_tasks():
    fig = storage([1, 2], {"tuned": [10.0, 20.0], "read": [10.0, 10.1]}, 2, ("tasks", "MB"))
    assert list(fig.data[0].y) == [10.0, 20.0] and fig.layout.shapes[0].x0 == 2
