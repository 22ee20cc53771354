"""The fill-in-the-blank sentences: one blank each, one word to find – in Chinese one character –, six kinds."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from minibert.text.characters import is_cjk

DATA = Path(__file__).parents[2] / "lessons" / "data"
KINDS = {"grammar", "agreement", "idiom", "fact", "world-knowledge", "coreference"}
KINDS_ZH = {"grammar", "measure-word", "word", "idiom", "fact", "world-knowledge"}


def lines_of(name: str) -> list[str]:
    return (DATA / name).read_bytes().decode("utf-8").split("\n")


def rows_of(name: str) -> list[list[str]]:
    return [line.split("\t") for line in lines_of(name)[1:-1]]


ROWS, ROWS_ZH = rows_of("cloze.tsv"), rows_of("cloze-zh.tsv")


@pytest.mark.parametrize("name", ["cloze.tsv", "cloze-zh.tsv"])
def test_header_and_end(name):
    lines = lines_of(name)
    assert lines[0] == "sentence\tanswer\tkind"
    assert lines[-1] == ""


@pytest.mark.parametrize(("sentence", "answer", "kind"), ROWS)
def test_one_blank_one_word(sentence, answer, kind):
    assert sentence.count("[MASK]") == 1 and kind in KINDS
    assert re.fullmatch("[a-z]+", answer)
    rest = sentence.replace("[MASK]", " ")
    assert "[" not in rest and answer not in re.findall("[a-z]+", rest.lower())
    assert 3 <= len(sentence.split()) <= 15
    assert sentence == " ".join(sentence.split()) and sentence[-1] == "." and '"' not in sentence
    assert sentence.isprintable() and unicodedata.is_normalized("NFC", sentence)


@pytest.mark.parametrize(("sentence", "answer", "kind"), ROWS_ZH)
def test_one_blank_one_character(sentence, answer, kind):
    assert sentence.count("[MASK]") == 1 and kind in KINDS_ZH
    assert len(answer) == 1 and is_cjk(answer)
    assert 4 <= len(sentence.replace("[MASK]", "")) <= 20 and sentence[-1] == "。"
    assert sentence.isprintable() and unicodedata.is_normalized("NFC", sentence)


@pytest.mark.parametrize(("rows", "expected"), [(ROWS, KINDS), (ROWS_ZH, KINDS_ZH)], ids=["en", "zh"])
def test_kinds_and_answers_are_spread(rows, expected):
    kinds = Counter(kind for _, _, kind in rows)
    assert len(rows) >= 40 and set(kinds) == expected and min(kinds.values()) >= 6
    assert len({sentence for sentence, _, _ in rows}) == len(rows)
    assert max(Counter(answer for _, answer, _ in rows).values()) <= 3
