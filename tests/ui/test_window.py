"""The window of a long text: it holds the word, moves only at its edges, and is all of a short text."""

from ui.window import around, with_first


def test_the_window_holds_the_word_and_stands_until_the_word_is_at_its_edge():
    assert around(5, 8, 2) == range(5)
    for wanted in range(40):
        assert wanted in around(40, 8, wanted) and len(around(40, 8, wanted)) == 8
    assert around(40, 8, 20) == around(40, 8, 22, start=16) == range(16, 24)
    assert around(40, 8, 23, start=16) == range(19, 27)  # what follows is seen, too
    assert around(40, 8, 0, start=16) == range(8)
    assert with_first(range(16, 24)) == (0, *range(17, 24)) and with_first(range(8)) == tuple(range(8))
