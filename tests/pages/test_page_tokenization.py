"""The tokenization page: every step for every text, the vocabularies, learning, and what a link says."""

import json
import re
from functools import partial

import pytest

from minibert.text.vocab import SPECIAL_TOKENS
from minibert.tokenizer import Tokenizer
from sections.tokenization.corpus import bundled, learning
from tests.hostile import EVERYTHING, HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, html_of, plain, whole
from ui.lesson import LESSONS

OWN = LESSONS / "tokenization" / "vocabularies"
open_page = partial(driver.open_page, "tokenization")
steps, learn = (partial(open_page, part=part) for part in ("Step by step", "Learn a vocabulary"))


@pytest.mark.parametrize("step", range(1, 7))
def test_every_step_stands_any_text(step):
    test = steps(step=step)
    for text in ("", EVERYTHING, HOSTILE["joiners"]):
        test.session_state["text"] = text
        assert_no_markup(whole(test.run()))


def test_the_ids_on_screen_are_the_tokenizers():
    sentence = "Zoë's unhappiness, 你好"
    test = steps(step=6, text=sentence, vocab="en-cased")
    encoding = Tokenizer.from_directory(OWN / "en-cased").encode(sentence)
    drawn = html_of(test)
    for token, id_ in zip(encoding.tokens, encoding.ids, strict=True):
        escaped = token.replace("'", "&#x27;")
        assert f"<bdi>{escaped}</bdi><small>{id_}</small>" in drawn
    assert {metric.label: metric.value for metric in test.metric}["tokens, with [CLS] and [SEP]"] == str(len(encoding))


def test_a_step_shows_what_it_does_to_case_and_to_a_word_beyond_the_limit():
    test = steps(step=3, text="Paris", vocab="en-cased")
    assert test.info and "paris" not in re.sub("<[^>]+>", "", html_of(test))
    whole(test.toggle(key="uncased-en-cased-False").set_value(True).run())
    assert "paris" in re.sub("<[^>]+>", "", html_of(test)) and not test.info
    for length in (100, 101):
        assert ("101 characters" in html_of(steps(step=5, text="a" * length))) == (length > 100)


def picture(test) -> dict:
    """What the window is told to draw."""
    return json.loads(test.get("bidi_component")[0].proto.json)


def test_the_page_opens_over_the_word_with_most_tries_and_tells_the_number_of_tokens_after_a_guess():
    sentence, tokenizer = "untokenize 你好", Tokenizer.from_directory(ROOT / "checkpoints" / "mini-en")
    test = open_page()
    whole(test.text_input(key="text").set_value(sentence).run())
    data = picture(test)
    word = data["words"][data["word"]]
    assert "".join(word["letters"]) == "untokenize" and word["stuck"] is None and word["unknown"] == ""
    pieces = tokenizer.wordpiece("untokenize")[0]
    assert word["found"] == [[start, end, tokenizer.ids[piece]] for start, end, piece in pieces]
    assert data["tokens"] == []  # one click first
    tokens = tokenizer.encode(sentence).tokens
    whole(next(button for button in test.button if plain(button.label) == str(len(tokens))).click().run())
    assert [token for token, *_rest in picture(test)["tokens"]] == tokens


def test_a_token_stands_with_its_word_also_where_the_text_holds_special_tokens():
    data = picture(open_page(text="[MASK] dog [SEP] bark, untokenize"))
    of = [(token, number) for token, _id, _kind, number in data["tokens"]]
    assert of[:4] == [("[CLS]", -1), ("[MASK]", -1), ("dog", 0), ("[SEP]", -1)]
    assert {number for token, number in of if token in ("unto", "##ken", "##ize")} == {3}


def test_a_link_holds_the_word_and_the_token():
    assert steps(step=5, text="one two three", word=2).session_state["word-choice"] == 1
    assert picture(open_page(text="one two three", word=2))["word"] == 1
    assert steps(step=6, text="one two three", token=4).session_state["token"] == 4
    for bad in ("0", "99", "²"):
        steps(step=5, text="one", word=bad, vocab=bad)
        steps(step=6, text="one", token=bad, compare=bad, case=bad)
        learn(merge=bad, corpus=bad, scoring=bad)


def test_merges_are_the_learners_and_are_taken_along():
    test = learn(merge=40)
    data = picture(test)
    learned = learning(bundled("parts"), True, "frequency")
    assert data["step"] == 40 and len(data["merges"]) == len(learned.merges)
    for number in data["often"]:  # the picture merges by itself: it must come to what the learner says
        cut = data["words"][number]
        for left, right, new, *_rest in data["merges"][:40]:
            cut = fused(cut, left, right, new)
        word = list(learned.cuts(40))[number]
        assert tuple(cut) == tuple(learned.cuts(40)[word])
    before = test.session_state["_learned-vocabulary"].pieces
    whole(test.button(key="use-learned").click().run())
    pieces = test.session_state["_learned-vocabulary"].pieces
    assert test.session_state["vocab"] == "learned" and pieces != before
    assert list(pieces[:5]) == list(SPECIAL_TOKENS)
    assert test.success  # said where it was pressed


def fused(cut: list[str], left: str, right: str, new: str) -> list[str]:
    """What merges.js does with a word."""
    pieces: list[str] = []
    at = 0
    while at < len(cut):
        here = tuple(cut[at : at + 2]) == (left, right)
        pieces.append(new if here else cut[at])
        at += 2 if here else 1
    return pieces


@pytest.mark.parametrize("scoring", ["frequency", "ratio"])
def test_learning_from_any_text_of_ones_own(scoring):
    test = learn(corpus="own", scoring=scoring)
    for text in ("", EVERYTHING, HOSTILE["joiners"]):
        test.session_state["own"] = text
        assert_no_markup(whole(test.run()))
    whole(open_page(corpus="own", own=HOSTILE["markup"], compare="above", part="Words or characters?"))


def test_vocabularies_are_found_in_a_folder(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    for name, content in (
        ("mine.txt", "\n".join([*SPECIAL_TOKENS, "a", "B", "##c"]).encode()),
        ("other/vocab.txt", "\n".join([*SPECIAL_TOKENS, "x"]).encode()),
        ("other/tokenizer_config.json", b'{"do_lower_case": false}'),
        ("broken.txt", b"\xff\xfe"),
        ("readme.md", b"no vocabulary"),
    ):
        (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("MINIBERT_VOCABS", str(tmp_path))
    assert "<bdi>##c</bdi><small>7</small>" in html_of(steps(vocab="mine", step=6, text="a Bc"))
    assert steps(vocab="other", step=6, text="x").toggle(key="uncased-other-False").value is False
    test = open_page(vocab="broken")
    assert any("broken" in error.value for error in test.error)
    assert not any("readme" in option for option in test.pills(key="vocab").options)


def test_an_uploaded_vocabulary_is_checked_and_chosen():
    test, good = steps(step=6, text="q w"), "\n".join([*SPECIAL_TOKENS, "q", "w"]).encode()
    whole(test.file_uploader(key="upload").set_value(("mine.txt", good, "text/plain")).run())
    assert test.session_state["vocab"] == "uploaded"
    assert "<bdi>q</bdi><small>5</small>" in html_of(test)
    for bad in (b"\xff\xff", b"a\nb\n", good + b"\nq", b""):
        test = open_page()
        whole(test.file_uploader(key="upload").set_value(("mine.txt", bad, "text/plain")).run())
        assert test.error and "_uploaded-vocabulary" not in test.session_state, bad
