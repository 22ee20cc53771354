"""Figures of stability: every run a dot, every layer a bar, the factors as they are."""

import pytest

from plots.stability import Cell, grid, layer_rates, power_curve, step_lengths, two_groups


def test_step_lengths_draw_the_factor_and_mark_its_peak():
    fig = step_lengths([1.0, 1.0, 1.0], [3.0, 6.0, 2.0], ("with", "without"), ("step", "length", "factor"))
    assert list(fig.data[2].y) == [3.0, 6.0, 2.0]
    assert [trace.text[0] for trace in fig.data if trace.text] == ["× 3.0", "× 6.0"]


def test_frozen_layers_say_so():
    fig = layer_rates(["embeddings", "block 1"], [0.0, 3e-4], "frozen", "rate")
    assert list(fig.data[0].text) == ["frozen", "3.0e-04"]


def test_every_run_of_the_grid_is_a_dot():
    cells = [
        Cell("2 epochs", "3e-4", True, {0: 60.0, 1: 64.0}),
        Cell("2 epochs", "3e-4", False, {0: 50.0}),
        Cell("6 epochs", "3e-4", True, {}),
    ]
    fig = grid(cells, ("with", "without"), "accuracy", 50.0, "commonest", "seed")
    dots = [trace for trace in fig.data if trace.mode == "markers"]
    assert [list(trace.y) for trace in dots] == [[60.0, 64.0], [50.0]]
    assert [list(trace.y) for trace in fig.data if trace.mode == "lines"] == [[62.0, 62.0], [50.0, 50.0]]
    assert len({trace.marker.symbol for trace in dots}) == 2
    assert fig.layout.annotations[0].text == "2 epochs" and fig.layout.annotations[1].text == "6 epochs"


def test_power_and_groups():
    assert list(power_curve([2, 3], [0.1, 0.9], 0.8, ("runs", "chance")).data[0].y) == [0.1, 0.9]
    fig = two_groups({"A": [1.0, 3.0], "B": [2.0]}, {"A": (2.0, 1.0), "B": (2.0, 0.0)}, "accuracy")
    assert fig.data[1].x[0] == pytest.approx(2.0) and fig.data[1].error_x.array[0] == 1.0
