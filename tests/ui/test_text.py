"""Text from users is never markup."""

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.attributed_text import attributed_html
from ui.text import KINDS, as_script, kind_of, literal, shorten, tex, tokens_html, visible


@given(st.text())
def test_literal_leaves_nothing_that_means_something(text):
    rest = re.sub(r"&#\d+;", "", literal(text))
    assert not set(rest) & set("\\`*_{}[]()<>#+-.!|~:$=^\"'&@/\n\r\t\0")


@given(st.text(alphabet=st.characters(exclude_categories=("C", "Z")), min_size=1))
def test_literal_shows_exactly_the_text(text):
    assert html.unescape(literal(text)) == visible(text, spaces=False)
    assert visible(text) == text


def test_what_cannot_be_seen_is_shown():
    shown = {"a b": "a␣b", "\0": "⟨U+0000⟩", "\n\t": "⏎⇥", "\u202eabc": "⟨U+202E⟩abc"}
    shown |= {"\u00a0\u2003": "⟨U+00A0⟩⟨U+2003⟩", "👩\u200d👦": "👩\u200d👦"}  # the joiner holds the emoji together
    assert {text: visible(text) for text in shown} == shown


def test_a_long_line_is_cut_and_a_number_stands_in_a_formula():
    assert shorten("abc", 3) == "abc" and shorten("abcd", 3) == "ab…"
    assert shorten("a\nb", 9) == "a b"
    assert [tex(1234.5, 1), tex(-0.25), tex(float("-inf"))] == ["1{,}234.5", "(-0.2500)", r"-\infty"]


KINDS_OF = {"[CLS]": "special", "[MASK]": "mask", "[UNK]": "unknown", "##ing": "piece"}


def test_kind_of():
    for token in (*KINDS_OF, "dog", "[]", "##"):
        assert kind_of(token) == KINDS_OF.get(token, "plain")
        assert kind_of(token) in KINDS
    with pytest.raises(ValueError, match="sparkly"):
        tokens_html(["a"], kinds=["sparkly"])


def test_tokens_count_what_is_not_drawn_and_say_which_is_selected():
    row = tokens_html(["a"] * 10, limit=3, selected=1)
    assert row.count("<li ") == 4 and "+7" in row and row.count('aria-current="true"') == 1


def test_segments_have_a_letter_and_what_is_asked_stands_below():
    row = tokens_html(["a", "b"], segments=[0, 1], targets=["", "<i>B-PER</i>"])
    first, second = row.split("<li ")[1:]
    assert "mb-segment-a" in first and ">A<" in first and "mb-asked" not in first
    assert "mb-segment-b" in second and ">B<" in second and "&lt;i&gt;B-PER" in second


def test_a_value_in_a_script_cannot_end_it():
    texts = ["</script><img src=x onerror=alert(1)>", "<!--", "a&b", "\u2028\u2029", "狗"]
    written = as_script({"texts": texts})
    assert json.loads(written) == {"texts": texts}
    assert not set("<>&\u2028\u2029") & set(written)


def test_sign_number_and_tint_say_the_same():
    drawn = attributed_html(["good", "bad"], [0.5, -1.0], label="text")
    good, bad = drawn.split("</li>")[:2]
    assert "+0.50" in good and "rgba(213, 94, 0, 0.300)" in good and "solid" in good
    assert "−1.00" in bad and "rgba(0, 114, 178, 0.600)" in bad and "dotted" in bad


def test_nothing_found_nothing_said_and_a_second_text_that_begins_a_line():
    assert "+0.00" in attributed_html(["a"], [0.0], label="")
    assert attributed_html([], [], label="").endswith("></ol>")
    assert attributed_html(["a", "b"], [1, 1], label="", breaks=[1]).count("flex-basis: 100%") == 1
