"""NEZHA's figures: what is in them is what was given."""

import numpy as np
import pytest

from plots.nezha import OPTIMIZERS, distance_strips, layer_shares, over_lengths, over_scales, weight_paths

AXES = ("across", "up", "along")


def test_a_strip_and_a_bar_for_each_token():
    vectors = np.linspace(-1, 1, 12).reshape(3, 4)
    fig = distance_strips(["a", "<b>", "c"], [-1, 0, 1], vectors, [0.5, -0.2, 0.0], 1, AXES)
    strips, bars = fig.data
    assert np.array_equal(np.array(strips.z), vectors.T) and (strips.zmin, strips.zmax) == (-1, 1)
    assert list(bars.y) == [0.5, -0.2, 0.0] and len(set(bars.marker.color[:2])) == 2
    assert list(fig.layout.xaxis2.ticktext) == ["−1", "0", "+1"]
    assert "<b>" not in strips.text[0][1] and bars.customdata[0] == "a -1"


def test_lengths_have_means_spreads_and_seeds():
    fig = over_lengths({"one": {32: [0.4, 0.6], 64: [0.1]}, "two": {32: [0.5]}}, 32, AXES[:2], "longer")
    means = {trace.name: list(trace.y) for trace in fig.data if trace.name}
    assert means == {"one": [0.5, 0.1], "two": [0.5]}
    assert list(fig.data[0].error_y.array) == pytest.approx([0.141421, 0.0], abs=1e-5)
    assert list(fig.data[1].y) == [0.4, 0.6, 0.1]  # a dot a seed


def test_paths_scales_and_shares():
    paths = weight_paths({"half": [1.0, 1.0], "master": [1.0, 1.1]}, AXES[:2])
    assert [list(trace.y) for trace in paths.data] == [[1.0, 1.0], [1.0, 1.1]]
    scales = over_scales({"zero": [0.2, 0.0]}, ["1", "2"], 1, AXES[:2])
    assert list(scales.data[0].y) == [0.2, 0.0] and scales.layout.shapes[0].x0 == 1
    shares = layer_shares(["q", "k"], {"AdamW": [0.1, 0.01], "LAMB": [0.001, 0.001]}, "share")
    assert [list(trace.x) for trace in shares.data] == [[0.1, 0.01], [0.001, 0.001]]
    assert list(shares.layout.yaxis.ticktext) == ["q", "k"]


def test_numbers_that_are_no_shares_are_written_as_they_are():
    fig = over_lengths({"a": {32: [4.5]}, "b": {32: [3.5]}}, None, AXES[:2], number=".2f", looks=OPTIMIZERS)
    assert fig.layout.yaxis.tickformat == ".2f" and not fig.layout.shapes
    assert [trace.line.color for trace in fig.data if trace.name] == [OPTIMIZERS[0][0], OPTIMIZERS[1][0]]
    ratios = layer_shares(["q", "k"], {"AdamW": [0.2, 5.0]}, "ratio", percent=False)
    assert {"0.2", "1", "5"} <= set(ratios.layout.xaxis.ticktext)
