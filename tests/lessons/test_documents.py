"""The documents of the next-sentence lesson: whole sentences, one a line, of one length, without repeats."""

import unicodedata
from pathlib import Path

from minibert.text.documents import read_documents, split_sentences

FOLDER = Path(__file__).parents[2] / "lessons" / "data" / "documents"
TOPICS, AGAIN = (list(read_documents([FOLDER / f"{name}.txt"])) for name in ("topics", "again"))


def test_there_are_as_many_as_the_readme_says():
    assert (len(TOPICS), len(AGAIN)) == (40, 12)
    assert "52 short documents" in (FOLDER.parent / "README.md").read_text(encoding="utf-8")


def test_each_line_is_a_sentence():
    assert {len(document) for document in TOPICS + AGAIN} == {7}
    for line in (line for document in TOPICS + AGAIN for line in document):
        assert split_sentences(line) == [line] and line[0].isupper() and line[-1] == "."
        assert 4 <= len(line.split()) <= 24
        assert line == " ".join(line.split()) and unicodedata.is_normalized("NFC", line) and line.isascii()


def test_nothing_is_said_twice():
    lines = [line for document in TOPICS + AGAIN for line in document]
    assert len(set(lines)) == len(lines)
