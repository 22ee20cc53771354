"""The text sets of our own: well-formed, of the stated sizes, balanced, and nothing of dev in train."""

import difflib
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "lessons" / "data"
PARTS = ("train", "dev")


def text(name: str) -> str:
    """The file as it is: UTF-8 in NFC, Unix line ends, one newline at the end."""
    content = (DATA / name).read_bytes().decode("utf-8")
    assert unicodedata.is_normalized("NFC", content) and "\r" not in content and "\ufeff" not in content
    assert content.endswith("\n")
    return content


def readme(folder: str) -> str:
    return (DATA / folder / "README.md").read_text(encoding="utf-8")


def words(sentence: str) -> list[str]:
    """Lower-case words, and Chinese characters one by one."""
    return re.findall(r"[a-z']+|\d+|[\u4e00-\u9fff]", sentence.lower())


def near_duplicates(sentences: list[str]) -> list[tuple[str, str]]:
    """Pairs that share much of their word trigrams (Jaccard), or many words in much the same order."""
    trigrams = [set(zip(w, w[1:], w[2:], strict=False)) or {tuple(w)} for w in map(words, sentences)]
    bags = [set(words(sentence)) for sentence in sentences]
    return [
        (first, sentences[j])
        for j in range(len(sentences))
        for i, first in enumerate(sentences[:j])
        if jaccard(trigrams[i], trigrams[j]) > 0.3
        or (jaccard(bags[i], bags[j]) > 0.4 and in_one_order(first, sentences[j]) > 0.75)
    ]


def in_one_order(first: str, second: str) -> float:
    return difflib.SequenceMatcher(None, first.lower(), second.lower(), False).ratio()


def jaccard(one: set, other: set) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def test_a_planted_near_duplicate_is_found():
    first, second = "The ferry arrives at noon, if it arrives at all.", "这家店的豆花又嫩又香。"
    copies = ["The ferry arrives at noon if it comes at all.", "他家的豆花又嫩又香。"]
    assert near_duplicates([first, second, "Nobody was hurt."]) == []
    assert near_duplicates([first, second, *copies]) == [(first, copies[0]), (second, copies[1])]


# Tokens and tags


def sentences(name: str, separator: str = " ") -> list[list[list[str]]]:
    """Blocks of lines between blank lines, each line split into its columns."""
    blocks = text(name).split("\n\n")
    assert blocks.pop() == ""  # a blank line ends the last sentence too
    return [[line.split(separator) for line in block.split("\n")] for block in blocks]


POS = r"CC|CD|DT|EX|IN|JJ[RS]?|MD|NNP?S?|PDT|POS|PRP\$?|RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|WP\$?|WRB|[.,:\"]"
CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "INTJ"}
ENTITIES = {"PER", "LOC", "ORG", "MISC"}


def entities(part: str) -> list[list[list[str]]]:
    return [rows for rows in sentences(f"entities/{part}.txt") if rows[0][0] != "-DOCSTART-"]


def names(rows: list[list[str]]) -> list[tuple[str, str]]:
    """(name, type) of each entity of a sentence in IOB1."""
    found, before = [], "O"
    for word, *_, tag in rows:
        if tag != "O":
            goes_on = tag[0] == "I" and before[1:] == tag[1:]
            found.append((f"{found.pop()[0]} {word}" if goes_on else word, tag[2:]))
        before = tag
    return found


@pytest.mark.parametrize("part", PARTS)
def test_entities_have_four_columns_and_known_tags(part):
    for rows in entities(part):
        for row in rows:
            assert len(row) == 4, row
            word, pos, chunk, tag = row
            assert word and re.fullmatch(POS, pos) and {chunk[2:], tag[2:]} <= CHUNKS | ENTITIES | {""}, row
            assert (pos == word) == (word in {",", ".", '"'}) and (pos in {",", '"', "."}) <= (chunk == tag == "O"), row


@pytest.mark.parametrize("column, kinds", [(2, CHUNKS), (3, ENTITIES)])
@pytest.mark.parametrize("part", PARTS)
def test_entities_are_iob1(part, column, kinds):
    for rows in entities(part):
        before = "O"
        for row in rows:
            tag = row[column]
            assert tag == "O" or (tag[:2] in {"I-", "B-"} and tag[2:] in kinds), row
            assert tag[0] != "B" or before[2:] == tag[2:], row  # B- only after a neighbour of its kind
            before = tag


@pytest.mark.parametrize("part", PARTS)
def test_entities_lie_in_noun_chunks(part):
    for rows in entities(part):
        for word, pos, chunk, tag in rows:
            inside = chunk.endswith("-NP") or pos in {"IN", "JJ"}  # “University of Leeds”, “is Italian”
            assert tag == "O" or inside, (word, rows)


@pytest.mark.parametrize("part", PARTS)
def test_entities_come_in_documents_of_ten(part):
    blocks = sentences(f"entities/{part}.txt")
    starts = [i for i, rows in enumerate(blocks) if rows[0][0] == "-DOCSTART-"]
    assert all(blocks[i] == [["-DOCSTART-", "-X-", "O", "O"]] for i in starts)
    assert starts == list(range(0, len(blocks), 11)) and len(blocks) % 11 == 0


def test_entities_are_as_many_as_the_readme_says():
    for part, least in zip(PARTS, (320, 100), strict=True):
        rows = entities(part)
        kinds = Counter(kind for sentence in rows for _, kind in names(sentence))
        assert len(rows) >= least and min(kinds.values()) >= 0.1 * kinds.total()
        counts = [len(rows) // 10, len(rows), sum(map(len, rows)), *(kinds[k] for k in ("PER", "LOC", "ORG", "MISC"))]
        assert "| ".join(["", part + " ", *(f"{n} " for n in counts), f"{kinds.total()} |"]) in readme("entities")


def test_most_entities_of_dev_are_new():
    known = {name for rows in entities("train") for name in names(rows)}
    dev = [name for rows in entities("dev") for name in names(rows)]
    share = sum(name not in known for name in dev) / len(dev)
    assert f"({share:.0%}, ".replace("%", " %") in readme("entities") and share > 0.5


def test_ambiguous_words_have_more_than_one_reading():
    readings: dict[str, set[str]] = {}
    for rows in entities("train") + entities("dev"):
        for word, *_, tag in rows:
            readings.setdefault(word.lower(), set()).add(tag[2:])
    table = re.findall(r"^\| ([A-Z][\w, ]+) \| (person|firm|place)", readme("entities"), re.M)
    listed = [word.lower() for line, _ in table for word in line.split(", ")]
    assert len(listed) > 30
    assert [word for word in listed if len(readings[word]) < 2] == []


def test_no_entity_sentence_is_said_twice():
    assert near_duplicates([" ".join(row[0] for row in rows) for p in PARTS for rows in entities(p)]) == []
