"""The tokenization page: every step for every text, the vocabularies, learning, and what a link says."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from minibert.tokenizer import Tokenizer
from minibert.vocab import SPECIAL_TOKENS
from ui.lesson import LESSONS, load_quiz

PAGE = str(Path(__file__).resolve().parents[2] / "pages" / "tokenization.py")
OWN = LESSONS / "tokenization" / "vocabularies"
HOSTILE = {
    "empty": "",
    "spaces": " \t\u00a0 ",
    "long": "word " * 20_000,
    "long word": "x" * 100_000,
    "emoji": "😀🏳️‍🌈👩‍👩‍👧‍👦",
    "right to left": "שלום עולם \u202eمرحبا",
    "nul": "a\x00b\x00",
    "markup": "</script><img src=x onerror=alert(1)> **x** :red[x] $x$ [x](y)",
    "chinese": "我喜欢自然语言处理，你呢？",
    "joiners": "\u200d\u200b\ufeff\u2060",
    "marks": "\u0301\u0302 a\u0301\u0323 Z\u0351\u0345\u030d",
    "hangul": "한국어 ½ ﬁ İ ẞ",
    "special": "[CLS] the [MASK] barked [SEP][UNK]",
}


def app(**query) -> AppTest:
    test = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in query.items():
        test.query_params[name] = str(value)
    return test


def run(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception, [one.value for one in test.exception]
    return test


def html_of(test: AppTest) -> str:
    return "".join(element.proto.body for element in test.get("html"))


@pytest.mark.parametrize("step", range(1, 7))
def test_every_step_stands_any_text(step):
    test = run(app(step=step))
    names = HOSTILE if step >= 5 else ("empty", "nul", "joiners", "marks", "markup", "special")
    for name in names:
        test.session_state["text"] = HOSTILE[name]
        run(test)
        assert all(f"<{tag}" not in html_of(test) for tag in ("img", "script"))


def test_the_ids_on_screen_are_the_tokenizers(tmp_path):
    sentence = "Zoë's unhappiness, 你好"
    test = run(app(step=6, text=sentence, vocab="en-cased"))
    encoding = Tokenizer.from_directory(OWN / "en-cased").encode(sentence)
    drawn = html_of(test)
    for token, id_ in zip(encoding.tokens, encoding.ids, strict=True):
        escaped = token.replace("'", "&#x27;")
        assert f"<bdi>{escaped}</bdi><small>{id_}</small>" in drawn
    assert {metric.label: metric.value for metric in test.metric}["tokens, with [CLS] and [SEP]"] == str(len(encoding))


def test_cased_uncased_and_chinese_differ_on_the_first_visit():
    assert Tokenizer.from_directory(OWN / "en-cased").encode("Polish polish").tokens[1] != "polish"
    chinese = Tokenizer.from_directory(OWN / "zh").encode("我爱你们").tokens
    assert chinese == ["[CLS]", "我", "爱", "你", "们", "[SEP]"]
    test = run(app())
    titles = " ".join(option.content for option in test.get("button_group")[1].proto.options)
    assert "English, cased" in titles and "Chinese" in titles


def test_the_case_can_be_switched_against_the_vocabulary():
    test = run(app(step=3, text="Paris", vocab="en-cased"))
    assert any("cased" in info.value for info in test.info)
    test.toggle(key="uncased-en-cased-False").set_value(True)
    run(test)
    assert "paris" in html_of(test).replace("<", " <").lower()
    assert not any("This tokenizer is cased" in info.value for info in test.info)


def test_a_word_beyond_the_limit_says_so():
    test = run(app(step=5, text="a" * 101))
    assert "101 characters" in html_of(test) and "longer than 100" in html_of(test)
    assert "101 characters" not in html_of(run(app(step=5, text="a" * 100)))


def test_a_link_holds_the_word_and_the_token():
    test = run(app(step=5, text="one two three", word=2))
    assert test.session_state["word-choice"] == 1
    test = run(app(step=6, text="one two three", token=4))
    assert test.session_state["token"] == 4
    for bad in ("0", "99", "²"):
        run(app(step=5, text="one", word=bad, vocab=bad, merge=bad))
        run(app(step=6, text="one", token=bad, corpus=bad, scoring=bad, compare=bad, case=bad))


def test_merges_are_stepped_through_and_taken_along():
    test = run(app(merge=3))
    assert any("Merge 3" in one.value for one in test.markdown)
    test.button(key="merge-1").click()
    run(test)
    assert any("Merge 4" in one.value for one in test.markdown)
    before = test.session_state["_learned-vocabulary"].pieces
    test.button(key="use-learned").click()
    run(test)
    learned = test.session_state["_learned-vocabulary"].pieces
    assert test.session_state["vocab"] == "learned" and learned != before
    assert list(learned[:5]) == list(SPECIAL_TOKENS)


@pytest.mark.parametrize("scoring", ["frequency", "likelihood"])
def test_learning_from_any_text_of_ones_own(scoring):
    test = run(app(corpus="own", scoring=scoring, compare="above"))
    for name in ("empty", "long", "emoji", "nul", "markup", "chinese", "joiners", "marks"):
        test.session_state["own"] = HOSTILE[name]
        run(test)


def test_vocabularies_are_found_in_a_folder(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("\n".join([*SPECIAL_TOKENS, "a", "B", "##c"]), encoding="utf-8")
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL_TOKENS, "x"]), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    (tmp_path / "broken.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "readme.md").write_text("no vocabulary")
    monkeypatch.setenv("MINIBERT_VOCABS", str(tmp_path))
    test = run(app(vocab="mine", step=6, text="a Bc"))
    assert "<bdi>##c</bdi><small>7</small>" in html_of(test)
    test = run(app(vocab="other", step=6, text="x"))
    assert test.toggle(key="uncased-other-False").value is False
    test = run(app(vocab="broken"))
    assert any("broken" in error.value for error in test.error)
    assert not any("readme" in option.content for option in test.get("button_group")[1].proto.options)


def test_an_uploaded_vocabulary_is_checked_and_chosen():
    test = run(app(step=6, text="q w"))
    good = "\n".join([*SPECIAL_TOKENS, "q", "w"]).encode()
    test.file_uploader(key="upload").set_value(("mine.txt", good, "text/plain"))
    run(test)
    assert test.session_state["vocab"] == "uploaded"
    assert "<bdi>q</bdi><small>5</small>" in html_of(test)
    for bad, reason in ((b"\xff\xff", "UTF-8"), (b"a\nb\n", "[PAD]"), (good + b"\nq", "already"), (b"", "[PAD]")):
        test = run(app())
        test.file_uploader(key="upload").set_value(("mine.txt", bad, "text/plain"))
        run(test)
        assert any("mine" in error.value for error in test.error), reason
        assert "_uploaded-vocabulary" not in test.session_state


def test_the_quiz_explains_every_choice():
    questions = load_quiz(LESSONS / "tokenization" / "quiz.toml")
    assert len(questions) >= 4
    assert all(choice.why for question in questions for choice in question.choices)


def test_the_quizs_own_example_is_right():
    tokenizer = Tokenizer([*SPECIAL_TOKENS, "un", "unti", "##tie", "##e"])
    assert tokenizer.encode("untie", add_special=False).tokens == ["unti", "##e"]
