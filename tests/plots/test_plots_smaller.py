"""Figures of size, speed and accuracy, and of students that learn."""

import math
import random
from itertools import combinations

import pytest

from plots.smaller import HEIGHT, LARGEST, LETTER, LINE, WIDTH, Point, beaten, students, ticks, tradeoff

POINTS = [
    Point("teacher", 8.0, 0.85, 90.0, "teacher", spread=0.01),
    Point("student <b>", 2.0, 0.76, 22.5, "alone", under=True),
    Point("taught", 2.0, 0.80, 22.5, "taught"),
    Point("teacher, 8 bits", 3.0, 0.84, 58.0, "teacher", open=True),
]


def test_bubbles_have_the_area_of_their_memory_and_the_line_joins_who_is_not_beaten():
    fig = tradeoff(POINTS, "t", ("ms", "%"), "best")
    line, *bubbles = fig.data
    assert list(line.x) == [2.0, 3.0, 8.0] and list(line.y) == [80.0, 84.0, 85.0]
    by_size = {bubble.y[0]: bubble for bubble in bubbles}
    assert by_size[85.0].marker.size == LARGEST and by_size[80.0].marker.size == pytest.approx(LARGEST / 2)
    assert by_size[84.0].marker.symbol == "circle-open" and by_size[85.0].error_y.array[0] == pytest.approx(1.0)
    assert bubbles[0].y[0] == 85.0  # the largest below the others
    names = {note.text: note for note in fig.layout.annotations}
    assert "student &lt;b&gt;" in names and names["student &lt;b&gt;"].yshift < 0 < names["taught"].yshift
    assert names["taught"].x == pytest.approx(math.log10(2.0)) and fig.layout.height <= 400
    assert [beaten(point, POINTS) for point in POINTS] == [False, True, False, False]
    assert len(tradeoff([], "t", ("x", "y"), "best").data) == 1
    assert ticks(1.1, 6.0) == [1.0, 2.0, 5.0, 10.0] and ticks(1.0, 1.0) == [0.5, 1.0, 2.0]  # round, about the range


def test_each_student_has_a_line_and_each_teacher_a_level():
    lines = {"alone": [(0.0, 0.5), (1.0, 0.63)], "taught": [(0.0, 0.5), (1.0, 0.7)]}
    fig = students(lines, {"teacher": 0.75}, "t", ("x", "y"))
    assert [list(trace.y) for trace in fig.data] == [[50.0, 63.0], [50.0, 70.0]]
    assert len({(trace.line.dash, trace.marker.symbol) for trace in fig.data}) == 2
    assert fig.layout.shapes[0].y0 == 75.0


def assert_names_apart(points):
    fig = tradeoff(points, "t", ("ms", "%"), "best")
    low, high = fig.layout.yaxis.range
    left, right = fig.layout.xaxis.range
    stand = [
        ((a.x - left) / (right - left) * WIDTH, (a.y - low) / (high - low) * HEIGHT + a.yshift, len(a.text))
        for a in fig.layout.annotations
    ]
    assert len(stand) == len(points) and all(0 < y < HEIGHT for _x, y, _letters in stand)
    for (x, y, some), (u, v, more) in combinations(stand, 2):
        assert abs(x - u) >= LETTER * (some + more) / 2 or abs(y - v) >= LINE


@pytest.mark.parametrize("seconds", [(1.0, 1.0, 1.0, 1.0), (1.0, 1.1, 1.2, 8.0), (2.0, 2.3, 2.6, 3.0)])
@pytest.mark.parametrize("scores", [(0.76, 0.76, 0.77, 0.85), (0.7, 0.7, 0.7, 0.7)])
def test_names_are_printed_over_no_other(seconds, scores):
    names = ("student alone", "student alone, 8 bits", "taught student", "teacher")
    assert_names_apart(
        [Point(name, ms, score, 20.0, "alone") for name, ms, score in zip(names, seconds, scores, strict=True)]
    )


@pytest.mark.parametrize("seed", range(30))
def test_nor_where_a_busy_server_measures_what_it_likes(seed):
    """The page's own eight: networks of three sizes, two of them in eight bits, each off by what chance brings."""
    chance = random.Random(seed)
    quiet = {"teacher": 6.0, "rounded": 3.5, "student": 1.8, "small": 1.5, "half": 1.4, "flat": 1.0}
    network = {name: ms * math.exp(chance.gauss(0, 0.5)) for name, ms in quiet.items()}
    drawn = [
        ("teacher", "teacher", 0.844, 90.0),
        ("8 bits", "rounded", 0.836, 58.0),
        ("student alone", "student", 0.764, 22.0),
        ("8 bits", "small", 0.765, 12.0),
        ("taught student", "student", 0.806, 22.0),
        ("8 bits", "small", 0.804, 12.0),
        ("½ neurons", "half", 0.785, 16.0),
        ("½ layers", "flat", 0.776, 16.0),
    ]
    assert_names_apart(
        [
            Point(f"{name} {at}", network[of], score, size, "alone", called=name, under=at in (2, 3, 6, 7))
            for at, (name, of, score, size) in enumerate(drawn)
        ]
    )


def test_a_name_stands_over_no_other_bubble_and_a_line_leads_to_its_own():
    points = [
        Point("a", 2.0, 0.80, 20.0, "alone", called="short"),
        Point("b", 2.0, 0.83, 20.0, "taught"),  # where the first one's name would stand
        Point("c", 2.0, 0.77, 20.0, "taught", under=True),
        Point("d", 4.0, 0.70, 20.0, "teacher"),
    ]
    fig = tradeoff(points, "t", ("ms", "%"), "best")
    (name,) = (note for note in fig.layout.annotations if note.text == "short")
    low, high = fig.layout.yaxis.range
    stands = (80 - low) / (high - low) * HEIGHT + name.yshift
    assert all(abs(stands - (100 * point.score - low) / (high - low) * HEIGHT) >= LINE for point in points[1:3])
    (line,) = (shape for shape in fig.layout.shapes if shape.yanchor == 80.0)
    assert line.xanchor == 2.0 and abs(line.y1) < abs(name.yshift)
