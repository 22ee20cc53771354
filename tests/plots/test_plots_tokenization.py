"""What the figures of the tokenization lesson say is what the tokenizer does."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.text.vocab import SPECIAL_TOKENS
from minibert.tokenizer import Tokenizer, Try
from plots import tokenization

WORDS = {"yes": "id {id}", "no": "no", "skipped": "{n} more", "unk": "id 1"}


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer([*SPECIAL_TOKENS, "un", "unti", "##tie", "##e", "a", "##b", "ab", "!"])


def test_a_short_ladder_shows_every_try_and_a_long_one_its_ends():
    tries = [Try(0, 60 - n, "x", n == 57) for n in range(58)]
    short = tokenization.rungs(tries)
    assert short[-1] == tries[-1] and short[:3] == tries[:3] and tokenization.rungs(tries[:30]) == tries[:30]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=400))
def test_no_ladder_loses_a_try(raw):
    tries = [Try(start, start + 1, "x", found) for start, found in raw]
    drawn = tokenization.rungs(tries)
    assert sum(one if isinstance(one, int) else 1 for one in drawn) == len(tries)
    assert len(drawn) <= 91
    shown = [one for one in drawn if not isinstance(one, int)]
    assert [one for one in tries if one in shown][: len(shown)] or not shown


def test_the_ladder_is_the_tokenizers_own_tries_and_of_a_word_that_fails_ends_in_unk(tokenizer):
    part = tokenizer.explain("untie").words[0].parts[0]
    html = tokenization.ladder(list("untie"), part.tries, ids=tokenizer.ids, words=WORDS)
    rows = re.findall(r"<tr class=\"tk-(\w+)\">(.*?)</tr>", html)
    assert [kind for kind, _row in rows] == ["yes" if one.found else "no" for one in part.tries] == ["no", "yes", "yes"]
    found = [re.sub(r"<[^>]+>", "", row) for kind, row in rows if kind == "yes"]
    assert found[:2] == [f"✓ id {tokenizer.ids['unti']}unti", f"✓ id {tokenizer.ids['##e']}##e"]
    part = tokenizer.explain("unz").words[0].parts[0]
    html = tokenization.ladder(list("unz"), part.tries, ids=tokenizer.ids, words=WORDS, unknown="nothing begins with z")
    assert "[UNK]" in html and "nothing begins with z" in html
    assert html.count('class="tk-no"') == sum(not one.found for one in part.tries)


def test_hebrew_goes_from_right_to_left_and_sizes_and_lengths_are_drawn():
    directions = {"rtl": ["שלום", "12 שלום", "مرحبا"], "ltr": ["hello שלום", "", "!?"]}
    assert all(tokenization.direction(text) == way for way, texts in directions.items() for text in texts)
    sizes = {"characters": (34, 900), "words": (300, 200)}
    fig = tokenization.size_against_length(sizes, [(40, 900), (80, 500)], here=(80, 500, "x"))
    assert [list(trace.x) for trace in fig.data] == [[40, 80], [34], [300], [80]]
    assert fig.layout.xaxis.type == "log"


@given(st.text(max_size=40), st.data())
def test_stretches_cover_the_text_and_know_their_tokens(text, data):
    n = len(text)
    pair = st.tuples(st.integers(0, n), st.integers(0, n)).map(sorted)
    offsets = [tuple(one) for one in data.draw(st.lists(pair, max_size=6))]
    runs = tokenization.runs_of(n, offsets)
    assert "".join(text[start:end] for start, end, _owner in runs) == text
    for start, end, owner in runs:
        for position in range(start, end):
            assert owner == tuple(i for i, (a, b) in enumerate(offsets) if a <= position < b)


def test_a_token_and_its_origin_light_up_together(tokenizer):
    encoding = tokenizer.encode("untie a!")
    html = tokenization.origins(list("untie a!"), encoding.tokens, [""] * 6, encoding.offsets, encoding.ids, chosen=1)
    assert re.search(r'class="tk-from tk-o1 tk-here">unti<', html)
    assert re.search(r'tk-t1 tk-here" aria-current="true"><bdi>unti</bdi>', html)
    assert ".tk-origins:has(.tk-t2:hover) .tk-o2" in html


@settings(max_examples=40)
@given(st.text(max_size=60))
def test_every_text_can_be_drawn(text):
    tokenizer = Tokenizer([*SPECIAL_TOKENS, "a", "##a", "b", "e"])
    explained = tokenizer.explain(text)
    for part in (part for word in explained.words for part in word.parts):
        assert "tk-ladder" in tokenization.ladder(list(part.span.text), part.tries, ids=tokenizer.ids, words=WORDS)
    e = explained.encoding
    assert "tk-tokens" in tokenization.origins(list(text), e.tokens, [""] * len(e), e.offsets, e.ids)
