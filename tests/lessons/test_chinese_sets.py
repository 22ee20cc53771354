"""The Chinese words with parts of speech and the Chinese pairs: whole, in their format, as their READMEs say."""

import unicodedata
from collections import Counter, defaultdict
from statistics import correlation

import pytest

from minibert.inside.probe_tasks import part_of_speech, read_columns, usable
from minibert.tasks import TASKS
from tests.lessons.data_files import DATA, readme, row_of

TAGS = {"NOUN", "PROPN", "VERB", "AUX", "ADJ", "ADV", "PRON", "DET", "NUM", "CLF", "ADP", "PART"}
TAGS |= {"CCONJ", "SCONJ", "PUNCT"}
FILES = {"words-zh": "sentences.txt", "similarity-zh": "pairs.tsv", "pairs-zh": "pairs.tsv"}
SENTENCES = read_columns((DATA / "words-zh" / "sentences.txt").read_bytes(), "sentences.txt")
PAIRS = TASKS["similarity"].read(DATA / "similarity-zh" / "pairs.tsv")


@pytest.mark.parametrize("folder", FILES)
def test_the_file_is_clean_text(folder):
    content = (DATA / folder / FILES[folder]).read_bytes().decode("utf-8")
    assert content.endswith("\n") and "\r" not in content and unicodedata.is_normalized("NFC", content)
    assert f"`{folder}/`" in (DATA / "README.md").read_text(encoding="utf-8")


def test_every_word_has_a_tag_and_every_sentence_an_end():
    assert {tag for _, tags in SENTENCES for tag in tags} == TAGS
    assert all(words[-1] in "。？！" and tags[-1] == "PUNCT" for words, tags in SENTENCES)
    assert all((tag == "PUNCT") == (word in "，。？！") for row in SENTENCES for word, tag in zip(*row, strict=True))


def test_no_sentence_stands_there_twice():
    texts = ["".join(words) for words, _ in SENTENCES]
    assert len(set(texts)) == len(texts)
    assert len({frozenset((e.text, e.pair)) for e in PAIRS.examples}) == len(PAIRS.examples)


def test_the_readme_counts_the_words():
    tags = defaultdict(set)
    for row in SENTENCES:
        for word, tag in zip(*row, strict=True):
            tags[word].add(tag)
    counts = (
        len(SENTENCES),
        sum(len(words) for words, _ in SENTENCES),
        len(tags),
        sum(len(t) > 1 for t in tags.values()),
    )
    assert row_of(*counts) in readme("words-zh")


def test_they_are_a_task_for_a_probe():
    (task,) = usable([part_of_speech(SENTENCES)], 10_000)
    assert task.unit == "word" and {"NOUN", "VERB", "CLF"} <= set(task.labels)
    assert {item.label for item in task.items if task.type_of(item) == ("花",)} == {"NOUN", "VERB"}


def test_the_readme_counts_the_pairs():
    assert not PAIRS.problems
    bands = Counter(min(4, int(example.score)) for example in PAIRS.examples)
    assert row_of("pairs", *(bands[band] for band in range(5)), len(PAIRS.examples)) in readme("similarity-zh")
    kinds = Counter(
        line.split("\t")[2] for line in (DATA / "similarity-zh" / "pairs.tsv").read_text("utf-8").splitlines()[1:]
    )
    for kind, count in kinds.items():
        assert f"| {kind} | {count} |" in readme("similarity-zh")


def test_common_characters_correlate_as_the_readme_says():
    lines = [line.split("\t") for line in (DATA / "similarity-zh" / "pairs.tsv").read_text("utf-8").splitlines()[1:]]

    def measured(rows) -> str:
        shared = [[set(text) - set("，。") for text in row[7:9]] for row in rows]
        return f"{correlation([float(row[9]) for row in rows], [len(a & b) / len(a | b) for a, b in shared]):.2f}"

    ordinary = measured([row for row in lines if row[2] == "ordinary"])
    assert f"{measured(lines)} over all pairs, {ordinary} over the ordinary ones" in readme("similarity-zh")


def test_every_chinese_premise_has_one_hypothesis_of_each_label_and_the_readme_counts_them():
    found = TASKS["pair"].read(DATA / "pairs-zh" / "pairs.tsv", strict=True).examples
    labels = ("entailment", "neutral", "contradiction")
    premises = Counter(one.text for one in found)
    assert set(premises.values()) == {3} and len({one.pair for one in found}) == len(found) >= 150
    assert {(one.text, one.label) for one in found} == {(text, label) for text in premises for label in labels}
    assert all(one.text.endswith("。") and one.pair.endswith("。") for one in found)
    said = readme("pairs-zh")
    assert f"# Pairs: {len(premises)} Chinese premises" in said
    for label in labels:
        some = [one for one in found if one.label == label]
        denied = sum(any(sign in one.pair for sign in "没不别") for one in some) / len(some)
        assert 0.2 < denied < 0.35 and f"| {label} | {len(some)} | {denied:.1%} |".replace("%", " %") in said
        assert sum(f"| {label} | {one.text} | {one.pair} |" in said for one in some) == 1
