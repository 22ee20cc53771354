"""The reviews: complete, balanced, without repeats, and not to be solved by counting words."""

import csv
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from minibert.tasks import TASKS
from tests.lessons import data_files
from tests.lessons.data_files import DATA, assert_clean, bag, lines, near_duplicates, readme, row_of, said_once, words

SPLITS = ("train", "dev", "test")
COLUMNS = ["sentence", "label", "kind", "topic"]
LABELS = ("positive", "negative")
KINDS = {"plain": 0.45, "negation": 0.21, "contrast": 0.21, "irony": 0.13}


def rows(*splits: str) -> list[dict[str, str]]:
    return [dict(zip(COLUMNS, line, strict=True)) for split in splits for line in lines(f"reviews/{split}.tsv")[1:]]


@pytest.fixture(scope="module")
def everything() -> list[dict[str, str]]:
    return rows(*SPLITS)


@pytest.mark.parametrize("split", SPLITS)
def test_every_line_has_its_four_columns_and_other_readers_find_the_same(split):
    header, *body = lines(f"reviews/{split}.tsv")
    assert header == COLUMNS
    for sentence, label, kind, topic in body:
        assert label in LABELS and kind in KINDS and re.fullmatch("[a-z]+", topic), sentence
    path = DATA / "reviews" / f"{split}.tsv"
    assert list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t")) == rows(split)  # knows of quotes
    ours = TASKS["classification"].read(path)
    assert [(e.text, e.label) for e in ours.examples] == [(r["sentence"], r["label"]) for r in rows(split)]


@pytest.mark.parametrize("splits", [SPLITS, *((s,) for s in SPLITS)], ids="-".join)
def test_classes_are_balanced_overall_in_each_split_and_in_each_kind_of_its_share(splits):
    chosen = rows(*splits)
    kinds = Counter(r["kind"] for r in chosen)
    assert {k: n / kinds.total() for k, n in kinds.items()} == pytest.approx(KINDS, abs=0.02)
    for kind in (None, *KINDS):
        labels = Counter(r["label"] for r in chosen if kind in (None, r["kind"]))
        assert labels["positive"] / labels.total() == pytest.approx(0.5, abs=0.05), kind


def test_topics_are_equally_spread(everything):
    topics = sorted({r["topic"] for r in everything})
    assert len(topics) == 12
    for split in SPLITS:
        cells = Counter((r["topic"], r["label"]) for r in rows(split))
        assert {t for t, _ in cells} == set(topics)
        for topic in topics:
            share = cells[topic, "positive"] / (cells[topic, "positive"] + cells[topic, "negative"])
            assert 0.3 <= share <= 0.7, (split, topic)
    cells = Counter((r["topic"], r["label"]) for r in everything)
    assert max(cells.values()) - min(cells.values()) <= 3


def test_sentences_are_clean_and_none_is_said_twice_nor_nearly(everything):
    sentences = [r["sentence"] for r in everything]
    assert_clean(sentences, least=5)
    assert all(sentence[0].isupper() and sentence[-1] in ".!?" for sentence in sentences)
    assert said_once(sentences)
    assert near_duplicates(sentences, trigrams=0.25, common=0.25, order=0.7) == []


def test_no_word_gives_the_class_away(everything):
    data_files.assert_none_gives_the_class_away((set(words(r["sentence"])), r["label"]) for r in everything)


def test_connectives_are_no_cue_in_contrasts(everything):
    contrasts = [r for r in everything if r["kind"] == "contrast"]
    for connective in ("but", "yet", "although|though|even if|despite|while"):
        labels = Counter(r["label"] for r in contrasts if re.search(rf"\b({connective})\b", r["sentence"].lower()))
        assert labels.total() >= 12
        assert 0.25 <= labels["positive"] / labels.total() <= 0.75, (connective, labels)


def test_bag_of_words_is_above_chance_and_far_from_perfect(everything):
    train, held = rows("train"), rows("dev", "test")
    model = bag().fit([r["sentence"] for r in train], [r["label"] for r in train])
    right = model.predict([r["sentence"] for r in held]) == [r["label"] for r in held]
    by_kind = {kind: right[[r["kind"] == kind for r in held]].mean() for kind in KINDS}

    sentences, labels = (np.array([r[column] for r in everything]) for column in ("sentence", "label"))
    strata = [r["label"] + r["kind"] for r in everything]
    splitter = StratifiedShuffleSplit(20, test_size=len(held), random_state=0)
    others = [
        bag().fit(sentences[fit], labels[fit]).score(sentences[score], labels[score])
        for fit, score in splitter.split(sentences, strata)
    ]
    dev = len(rows("dev"))
    print(f"dev {right[:dev].mean():.3f}, test {right[dev:].mean():.3f}, both {right.mean():.3f}")
    print("by kind:", ", ".join(f"{kind} {share:.3f}" for kind, share in by_kind.items()))
    print(f"20 other splits of the same sizes: {np.mean(others):.3f} ± {np.std(others):.3f}")
    assert 0.55 < right.mean() < 0.85
    assert 0.55 < np.mean(others) < 0.85
    assert abs(right.mean() - np.mean(others)) < 3 * np.std(others)  # the fixed split is no freak
    assert by_kind["plain"] > 0.6  # said in the open: words do help


def test_readme_states_the_sizes_and_quotes_real_sentences(everything):
    sizes = {split: len(rows(split)) / len(everything) for split in SPLITS}
    assert len(everything) >= 720 and sizes == pytest.approx({"train": 0.70, "dev": 0.15, "test": 0.15}, abs=0.01)
    for kind in (*KINDS, "all"):
        counts = [sum(kind in (r["kind"], "all") for r in rows(split)) for split in SPLITS]
        assert row_of(kind, *counts, sum(counts)) in readme("reviews")
    real = {(r["sentence"], r["kind"], r["label"]) for r in everything}
    quoted = re.findall(rf"^\| ({'|'.join(KINDS)}) \| (positive|negative) \| (.+?) \|$", readme("reviews"), re.M)
    assert {(kind, label) for kind, label, _ in quoted} == {(k, label) for k in KINDS for label in LABELS}
    assert all((sentence, kind, label) in real for kind, label, sentence in quoted)
