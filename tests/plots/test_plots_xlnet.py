"""XLNet's figures: what is in them is what was given."""

import numpy as np
import pytest

from plots.xlnet import by_way, double_mask, joint_bars, looked_at, two_masks

WORDS = ["new", "<b>", "city"]
QUERY = [[False, True, True], [False, False, False], [False, True, False]]
CONTENT = [[i == j or QUERY[i][j] for j in range(3)] for i in range(3)]


def cells(fig, symbol: str) -> set[tuple[int, int, int]]:
    return {tuple(cell) for trace in fig.data if trace.marker.symbol == symbol for cell in trace.customdata}


def test_every_cell_of_both_masks_can_be_clicked():
    fig = two_masks(WORDS, {"a": CONTENT, "b": QUERY}, [True, False, False], (1, 0, 2), ("who", ""))
    masks = (CONTENT, QUERY)
    wanted = {(p, i, j) for p, mask in enumerate(masks) for i in range(3) for j in range(3) if mask[i][j]}
    assert cells(fig, "square") == wanted
    assert len(cells(fig, "square") | cells(fig, "x-thin")) == 18
    frame = fig.layout.shapes[-1]
    assert (frame.x0, frame.y0, frame.xref) == (1.5, -0.5, "x2")
    assert "&lt;b&gt;" in fig.layout.xaxis.ticktext[1]


def test_the_double_mask_has_a_mark_for_each_pair():
    mask = np.zeros((6, 6), dtype=bool)
    mask[:3, :3], mask[3:, :3] = CONTENT, QUERY
    fig = double_mask(WORDS, mask, ("content", "query"), "a title")
    drawn = {(int(y), int(x)) for t in fig.data if t.marker.symbol == "square" for x, y in zip(t.x, t.y, strict=True)}
    assert drawn == {(int(i), int(j)) for i, j in np.argwhere(mask)}
    assert sum(len(trace.x) for trace in fig.data) == 36


def test_bars_are_shares():
    fig = joint_bars({"BERT": 0.02, "XLNet": 0.1}, "P", "a title")
    assert list(fig.data[0].x) == [0.02, 0.1] and list(fig.data[0].text) == ["2.00%", "10.00%"]


@pytest.mark.parametrize("percent", [False, True])
def test_a_dot_a_seed_and_their_mean(percent):
    arms = {"BERT": {"at once": [-4.0, -6.0]}, "XLNet": {"at once": [-3.0, -5.0], "in order": [-2.0, -2.0]}}
    fig = by_way(arms, "nats", "a title", percent=percent)
    means = {trace.name: list(trace.x) for trace in fig.data if trace.name}
    assert means == {"at once": [-5.0, -4.0], "in order": [-2.0]}
    dots = [list(trace.x) for trace in fig.data if not trace.name]
    assert dots == [[-4.0, -6.0, -3.0, -5.0], [-2.0, -2.0]]


def test_the_memory_stands_in_front_of_the_row():
    fig = looked_at(["<b>", "was"], ["so", "she"], [0.1, 0.5, 0.0, 0.4], 1, ("memory", "row", "attention"), "a title")
    assert [(list(bar.x), list(bar.y)) for bar in fig.data] == [([0, 1], [0.1, 0.5]), ([2, 3], [0.0, 0.4])]
    assert list(fig.layout.xaxis.ticktext)[1:] == ["was", "so", "<b>she ?</b>"]
    assert "<b>" not in fig.layout.xaxis.ticktext[0] and len({bar.marker.pattern.shape for bar in fig.data}) == 2
