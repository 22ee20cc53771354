"""The fill-in-the-blank sentences: one blank each, one word to find, six kinds."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "lessons" / "data" / "cloze.tsv"
KINDS = {"grammar", "agreement", "idiom", "fact", "world-knowledge", "coreference"}
LINES = FILE.read_bytes().decode("utf-8").split("\n")
ROWS = [line.split("\t") for line in LINES[1:-1]]


def test_header_and_end():
    assert LINES[0] == "sentence\tanswer\tkind"
    assert LINES[-1] == ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_one_blank_one_word(row):
    sentence, answer, kind = row
    assert sentence.count("[MASK]") == 1 and kind in KINDS
    assert re.fullmatch("[a-z]+", answer)
    rest = sentence.replace("[MASK]", " ")
    assert "[" not in rest and answer not in re.findall("[a-z]+", rest.lower())
    assert 3 <= len(sentence.split()) <= 15
    assert sentence == " ".join(sentence.split()) and sentence[-1] == "." and '"' not in sentence
    assert sentence.isprintable() and unicodedata.is_normalized("NFC", sentence)


def test_kinds_and_answers_are_spread():
    kinds = Counter(kind for _, _, kind in ROWS)
    assert len(ROWS) >= 40 and set(kinds) == KINDS and min(kinds.values()) >= 6
    assert len({sentence for sentence, _, _ in ROWS}) == len(ROWS)
    assert max(Counter(answer for _, answer, _ in ROWS).values()) <= 3
