"""Words with their values as HTML: nothing of a word is markup, and colour is never alone."""

from tests.hostile import any_text
from ui.attributed_text import attributed_html


def test_sign_number_and_tint_say_the_same():
    drawn = attributed_html(["good", "bad"], [0.5, -1.0], label="text")
    good, bad = drawn.split("</li>")[:2]
    assert "+0.50" in good and "rgba(213, 94, 0, 0.300)" in good and "solid" in good
    assert "-1.00" in bad and "rgba(0, 114, 178, 0.600)" in bad and "dotted" in bad


def test_nothing_found_and_nothing_said():
    assert "+0.00" in attributed_html(["a"], [0.0], label="")
    assert attributed_html([], [], label="").endswith("></ol>")


def test_a_second_text_begins_a_line():
    assert attributed_html(["a", "b"], [1, 1], label="", breaks=[1]).count("flex-basis: 100%") == 1


@any_text
def test_any_word_is_text(text):
    drawn = attributed_html([text[:500]], [1.0], label=text[:50], titles=[text[:500]])
    assert "<img" not in drawn and "<b>" not in drawn and "</script" not in drawn and "\x00" not in drawn
