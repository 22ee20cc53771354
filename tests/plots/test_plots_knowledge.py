"""The knowledge page's figures: what they draw is what they were given, and names are text."""

import pytest

from plots.knowledge import joined_vector, translations


def test_a_joined_vector_has_two_parts():
    fig = joined_vector([0.1, -0.2, 0.3, 0.4, 0.5], 3, ("word", "roles"), "<b>five")
    word, roles = fig.data
    assert list(word.x) == [1, 2, 3] and list(word.y) == [0.1, -0.2, 0.3]
    assert list(roles.x) == [4, 5] and list(roles.y) == [0.4, 0.5]
    assert word.name == "word" and fig.layout.title.text == "&lt;b&gt;five"


@pytest.mark.parametrize("many", [3, 20])
def test_an_arrow_goes_from_each_subject_to_where_the_relation_leads(many):
    names = [*(f"s{n}" for n in range(many)), "girl"]
    points = [(float(n), 0.0) for n in range(many)] + [(1.0, 5.0)]
    ends = [(n + 0.5, 4.0) for n in range(many)]
    fig = translations(names, many, points, ends, "facts")
    subjects, objects = fig.data
    assert list(subjects.text) == names[:-1] and list(objects.text) == ["girl"]
    assert list(objects.x) == [1.0] and list(objects.y) == [5.0]
    arrows = [(one.ax, one.ay, one.x, one.y) for one in fig.layout.annotations if one.showarrow]
    assert arrows == [(float(n), 0.0, n + 0.5, 4.0) for n in range(many)]
    assert ("text" in subjects.mode) == (many < 15)  # else they would lie over each other
