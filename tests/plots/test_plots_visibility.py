"""The drawing of who sees what: every vector is there, and what reaches a position is marked."""

import pytest

from minibert.inside.visibility import MODELS, nodes, output, reach
from plots.visibility import MAX_WORDS, visibility


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("n", "i"), [(1, 0), (7, 3), (MAX_WORDS, 0)])
def test_the_figure_draws_every_vector_and_marks_what_reaches(model, n, i):
    fig = visibility([f"w{j}" for j in range(n)], i, model)
    points = [trace for trace in fig.data if trace.mode == "markers"]
    drawn = sum(len(trace.x) for trace in points)
    halves = sum(node.knows == "halves" for node in nodes(model, n))
    assert drawn == len(nodes(model, n)) + halves  # a joined output is drawn as its two halves
    assert all(0 <= position < n for trace in points for position in trace.customdata)
    solid = [trace for trace in points if "open" not in trace.marker.symbol]
    at_the_bottom = {p for trace in solid for p, y in zip(trace.customdata, trace.y, strict=True) if y == 0}
    assert at_the_bottom == set(reach(model, i, n).words)
    assert output(model, i).position in {p for trace in solid for p in trace.customdata}


def test_too_many_words():
    with pytest.raises(ValueError, match="13 words"):
        visibility(["w"] * 13, 0, "BERT")
