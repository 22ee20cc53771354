"""Figures of the cone: what is drawn is what was given, and sentences are no markup."""

import numpy as np

from plots.cone import Cloud, clouds, likelihoods, over_dimensions

POINTS = np.array([[0.1, 0.2], [0.0, -0.4], [-0.6, 0.8], [0.6, 0.8]])


def test_points_and_arrows_stand_where_they_are_in_circles_of_one_scale():
    panels = [Cloud("as <i>is</i>", POINTS, 0.5, 0.28), Cloud("after", -POINTS, None, -0.1)]
    fig = clouds(panels, ["one", "<b>two</b>", "a", "b"], "<i>t</i>", ("mean", "yours"))
    grey, first, second = fig.data[:3]
    assert list(grey.x) == [0.1, 0.0] and "<b>two" not in grey.customdata[1]
    assert (list(first.x), list(first.y)) == ([0, -0.6], [0, 0.8]) and list(second.x) == [0, 0.6]
    assert first.line.dash != second.line.dash and first.marker.symbol[1] != second.marker.symbol[1]
    assert len([shape for shape in fig.layout.shapes if shape.type == "circle"]) == 2
    assert (fig.layout.yaxis.scaleanchor, fig.layout.yaxis2.scaleanchor) == ("x", "x2")
    words = [note.text for note in fig.layout.annotations]
    assert words[1] == "mean <b>0.50</b> · yours <b>0.28</b>" and words[3] == "yours <b>−0.10</b>"
    assert "<i>" not in words[0] + fig.layout.title.text and fig.layout.height <= 400


def test_agreement_by_numbers_kept_beside_what_it_was():
    fig = over_dimensions({"own": [0.2, 0.4], "<b>b</b>": [0.5, 0.6]}, {"own": 0.3, "<b>b</b>": 0.4}, [8, 256], "t",
                          ("k", "rho"), "before")  # fmt: skip
    assert [list(trace.y) for trace in fig.data] == [[0.2, 0.4], [0.3, 0.3], [0.5, 0.6], [0.4, 0.4]]
    assert list(fig.data[0].x) == ["8", "256"] and "<b>" not in fig.data[2].name
    assert fig.data[0].line.dash != fig.data[2].line.dash


def test_a_line_a_run():
    fig = likelihoods({"one": [(0, -1.0), (10, -0.5)], "two": [(0, -1.2)]}, "t", ("step", "ln p"))
    assert [list(trace.y) for trace in fig.data] == [[-1.0, -0.5], [-1.2]] and fig.layout.showlegend
