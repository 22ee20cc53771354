"""Words with their values as HTML: colour is never alone."""

from ui.attributed_text import attributed_html


def test_sign_number_and_tint_say_the_same():
    drawn = attributed_html(["good", "bad"], [0.5, -1.0], label="text")
    good, bad = drawn.split("</li>")[:2]
    assert "+0.50" in good and "rgba(213, 94, 0, 0.300)" in good and "solid" in good
    assert "-1.00" in bad and "rgba(0, 114, 178, 0.600)" in bad and "dotted" in bad


def test_nothing_found_nothing_said_and_a_second_text_that_begins_a_line():
    assert "+0.00" in attributed_html(["a"], [0.0], label="")
    assert attributed_html([], [], label="").endswith("></ol>")
    assert attributed_html(["a", "b"], [1, 1], label="", breaks=[1]).count("flex-basis: 100%") == 1
