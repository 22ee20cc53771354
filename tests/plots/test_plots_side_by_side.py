"""Models side by side: what is drawn says what it is given."""

import re

from plots.side_by_side import Bar, Card, CardSection, side_by_side


def drawn(*parts: CardSection, **options) -> str:
    return side_by_side([Card("one", "about it", parts)], "label", **options)


def test_a_bar_is_as_long_as_its_share_and_never_longer_than_its_scale():
    page = drawn(CardSection("found", "bars", [Bar("a", 0.25, "25 %"), Bar("b", 1.7, "?"), Bar("c", -1, "?")]))
    assert re.findall(r"width: ([\d.]+)%", page) == ["25.00", "100.00", "0.00"]
    page = drawn(CardSection("found", "words", [Bar("a", 0.5, "50 %")]))
    assert re.findall(r"height: ([\d.]+)%", page) == ["50.00"]


def test_numbers_are_text_for_who_cannot_see_the_bars_and_what_is_right_is_marked_by_more_than_colour():
    bars = [Bar("a", 0.25, "25 %", right=True), Bar("b", 0.1, "10 %")]
    page = drawn(CardSection("f", "bars", bars), CardSection("g", "words", [Bar("w", 0.5, "50 %")], selected=0))
    for words in ("25 %", "50 %", "<h2>one</h2>", "<h3>f</h3>", "<h3>g</h3>", 'aria-current="true"'):
        assert words in page
    assert page.count('aria-hidden="true"') == 3
    assert "a ✓" in page and "b ✓" not in page


def test_a_part_without_bars_says_why():
    assert "<ol" not in drawn(CardSection("nothing", "bars", note="still loading"), waiting=True)
    assert "still loading" in drawn(CardSection("nothing", "answer", note="still loading"))
    assert 'aria-busy="true"' in drawn(waiting=True) and "aria-busy" not in drawn()
