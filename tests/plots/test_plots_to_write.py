"""Figures of writing: what is in them is what was given."""

from plots.to_write import arms_by_measure, by_sweep, over_steps


def test_lines_over_steps_and_sweeps():
    fig = over_steps({"UniLM": [(0, 0.0), (50, 0.5)], "<b>": [(0, 0.1)]}, ("step", "right"))
    assert [(list(line.x), list(line.y)) for line in fig.data] == [([0, 50], [0.0, 0.5]), ([0], [0.1])]
    assert len({line.line.dash for line in fig.data}) == 2
    fig = by_sweep({"any": [-1.0, -0.5], "left": [-2.0, -1.0]}, ("sweeps", "ln P"))
    assert list(fig.data[0].x) == [1, 2] and list(fig.data[1].y) == [-2.0, -1.0]


def test_an_arm_has_a_dot_a_seed_and_its_mean():
    fig = arms_by_measure({"right": {"a": [0.2, 0.4], "b": [0.5]}, "next": {"b": [0.1]}}, "percent")
    assert [list(trace.x) for trace in fig.data] == [[20.0, 40.0], [30.0], [50.0], [50.0], [10.0], [10.0]]
    assert list(fig.layout.yaxis.ticktext) == ["a", "b"] and list(fig.layout.yaxis2.ticktext) == ["b"]
    assert [note.text for note in fig.layout.annotations] == ["right", "next"]
    assert fig.data[2].marker.color == fig.data[4].marker.color  # an arm keeps its colour
