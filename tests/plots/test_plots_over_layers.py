"""Figures over layers: their data."""

import pytest

from plots.embeddings import side_by_side
from plots.over_layers import Line, Panel, Settled, depths, layer_words, over_layers, ranks

LAYERS = ["embeddings", "1", "2"]


def test_lines_bands_and_references():
    lines = [
        Line("a", [0.1, 0.2, 0.3], "first", [0.0, 0.1, 0.2], [0.2, 0.3, 0.4]),
        Line("base", [0.1, 0.1, 0.1], "baseline"),
        Line("one of many", [0.2, 0.2, 0.2], faint=True),
    ]
    fig = over_layers([Panel("one", lines, {"chance": 0.5}, True), Panel("two", lines[:1])], LAYERS, "layer")
    named = [trace for trace in fig.data if trace.name]
    assert [trace.name for trace in named if trace.showlegend] == ["a", "base"]
    assert list(named[0].y) == [0.1, 0.2, 0.3]
    band = next(trace for trace in fig.data if trace.fill == "toself")
    assert list(band.y) == [0.2, 0.3, 0.4, 0.2, 0.1, 0.0]
    assert {trace.line.dash for trace in named[:2]} == {"solid", "dot"}
    assert [shape.y0 for shape in fig.layout.shapes] == [0.5]
    assert list(fig.layout.xaxis.ticktext) == LAYERS


def test_small_panels_name_their_references_in_the_legend():
    panels = [Panel("x", [Line("a", [0.0] * 3)], {"chance": 0.5})] * 3
    small, large = (over_layers(panels, LAYERS, "layer", columns=columns) for columns in (3, 2))
    assert [trace.name for trace in small.data if trace.name == "chance"] == ["chance"]
    small_notes, notes = ([note.text for note in fig.layout.annotations] for fig in (small, large))
    assert "chance" not in small_notes and notes.count("chance") == 3
    assert "new text" not in small_notes + notes  # plotly's words for a note without any
    nameless = over_layers([Panel("task", [Line("x", [0.1, 0.9])], {"": 0.0})], LAYERS[:2], "layer")
    assert [note.text for note in nameless.layout.annotations] == ["task"]


def test_many_layers_leave_room_for_their_names():
    names = ["embeddings", *map(str, range(1, 25))]
    panels = [Panel("x", [Line("a", [0.0] * 25)])] * 3
    assert len(over_layers(panels, names, "layer", columns=3).layout.xaxis.tickvals) <= 9


def test_depths_mark_every_repetition_and_the_mean():
    groups = {"here": [Settled("pos", "syntax", [0.25, 0.75])], "a paper": [Settled("topic", "meaning", [0.5])]}
    fig = depths(groups, {"surface": "surface", "syntax": "syntax", "meaning": "meaning"}, "depth")
    assert [list(trace.x) for trace in fig.data] == [[0.25, 0.75], [0.5], [0.5], [0.5]]
    assert [trace.name for trace in fig.data if trace.showlegend] == ["syntax", "meaning"]


def test_layer_words_mark_the_right_one_and_rank_one_is_on_top():
    rows = [[("the", 0.5), ("a", 0.1)], [("time", 0.6), ("day", 0.2)]]
    fig = layer_words(rows, LAYERS[:2], "time", ("layer", "place"))
    texts = [note.text for note in fig.layout.annotations]
    assert texts == ["the 50%", "a 10%", "<b>time</b> 60%", "day 20%"]
    assert len([shape for shape in fig.layout.shapes if shape.line.width]) == 1
    opacities = [shape.opacity for shape in fig.layout.shapes if not shape.line.width]
    assert opacities[0] > opacities[1]
    fig = ranks([Line("rank", [144, 9, 1])], LAYERS, "layer", "Rank", 8192)
    assert fig.layout.yaxis.type == "log" and fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]
    assert list(fig.layout.yaxis.tickvals) == [1, 10, 100, 1000]


def test_side_by_side_is_a_picture_a_layer_at_one_scale():
    layouts = [[[0.0, 1.0], [2.0, 0.0], [0.5, 0.5]], [[0.0, -1.0], [1.0, 0.0], [0.5, 0.5]]]
    fig = side_by_side(layouts, LAYERS[:2], ["x", "yours"], [0, 0, 1], ["a", "b", "c"], own=1)
    assert len(fig.data) == 4
    assert fig.layout.xaxis.range == fig.layout.xaxis2.range == fig.layout.yaxis.range
    assert fig.layout.xaxis.range[1] == pytest.approx(2.2)
    assert [trace.marker.symbol for trace in fig.data] == ["circle", "star"] * 2
    assert list(fig.data[0].hovertext) == ["a", "b"]
    assert [note.text for note in fig.layout.annotations] == LAYERS[:2]
