"""The Chinese words with parts of speech and the Chinese pairs: whole, in their format, as their READMEs say."""

from collections import Counter, defaultdict
from statistics import correlation

import pytest

from minibert.inside.probe_tasks import part_of_speech, read_columns, usable
from minibert.tasks import TASKS
from tests.lessons.data_files import DATA, lines, readme, row_of, text

TAGS = {"NOUN", "PROPN", "VERB", "AUX", "ADJ", "ADV", "PRON", "DET", "NUM", "CLF", "ADP", "PART", "CCONJ", "SCONJ"}
SENTENCES = read_columns((DATA / "words-zh" / "sentences.txt").read_bytes(), "sentences.txt")
PAIRS = TASKS["similarity"].read(DATA / "similarity-zh" / "pairs.tsv", strict=True).examples


@pytest.mark.parametrize("file", ["words-zh/sentences.txt", "similarity-zh/pairs.tsv", "pairs-zh/pairs.tsv"])
def test_the_file_is_clean_text(file):
    assert text(file) and f"`{file.split('/')[0]}/`" in readme("")


def test_every_word_has_a_tag_and_every_sentence_an_end_and_the_readme_counts_them():
    tags = defaultdict(set)
    for words, of_them in SENTENCES:
        assert words[-1] in "。？！" and of_them[-1] == "PUNCT"
        for word, tag in zip(words, of_them, strict=True):
            tags[word].add(tag)
            assert (tag == "PUNCT") == (word in "，。？！")
    assert set.union(*tags.values()) == {*TAGS, "PUNCT"}
    assert len({"".join(words) for words, _ in SENTENCES}) == len(SENTENCES)
    several = sum(len(some) > 1 for some in tags.values())
    assert row_of(len(SENTENCES), sum(len(words) for words, _ in SENTENCES), len(tags), several) in readme("words-zh")


def test_they_are_a_task_for_a_probe():
    (task,) = usable([part_of_speech(SENTENCES)], 10_000)
    assert task.unit == "word" and {"NOUN", "VERB", "CLF"} <= set(task.labels)
    assert {item.label for item in task.items if task.type_of(item) == ("花",)} == {"NOUN", "VERB"}


def test_the_readme_counts_the_pairs_and_correlates_their_characters():
    bands = Counter(min(4, int(example.score)) for example in PAIRS)
    assert row_of("pairs", *(bands[band] for band in range(5)), len(PAIRS)) in readme("similarity-zh")
    assert len({frozenset((e.text, e.pair)) for e in PAIRS}) == len(PAIRS)
    rows = lines("similarity-zh/pairs.tsv")[1:]
    for kind, count in Counter(row[2] for row in rows).items():
        assert f"| {kind} | {count} |" in readme("similarity-zh")

    def measured(rows) -> str:
        shared = [[set(text) - set("，。") for text in row[7:9]] for row in rows]
        return f"{correlation([float(row[9]) for row in rows], [len(a & b) / len(a | b) for a, b in shared]):.2f}"

    ordinary = measured([row for row in rows if row[2] == "ordinary"])
    assert f"{measured(rows)} over all pairs, {ordinary} over the ordinary ones" in readme("similarity-zh")


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
