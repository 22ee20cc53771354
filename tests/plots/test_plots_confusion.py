"""The confusion matrix: its data."""

from plots.confusion import confusion


def test_every_count_is_shown_readably():
    fig = confusion([[5, 1], [0, 9]], ["no", "yes"], ("answer", "truth"))
    assert [(a.x, a.y, a.text) for a in fig.layout.annotations] == [
        ("no", "no", "5"),
        ("yes", "no", "1"),
        ("no", "yes", "0"),
        ("yes", "yes", "9"),
    ]
    assert [a.font.color for a in fig.layout.annotations] == ["white", "white", "white", "black"]
    confusion([[0, 0], [0, 0]], ["a", "b"], ("answer", "truth"))
