"""The reviews: complete, balanced, without repeats, and not to be solved by counting words."""

import csv
import difflib
import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedShuffleSplit

from minibert.tasks import TASKS
from tests.lessons.data_files import DATA, bag, readme, row_of

FOLDER = DATA / "reviews"
SPLITS = ("train", "dev", "test")
COLUMNS = ["sentence", "label", "kind", "topic"]
LABELS = ("positive", "negative")
KINDS = {"plain": 0.45, "negation": 0.21, "contrast": 0.21, "irony": 0.13}


def lines(split: str) -> list[list[str]]:
    return [line.split("\t") for line in (FOLDER / f"{split}.tsv").read_bytes().decode("utf-8").split("\n")]


def rows(*splits: str) -> list[dict[str, str]]:
    return [dict(zip(COLUMNS, line, strict=True)) for split in splits for line in lines(split)[1:-1]]


def words(sentence: str) -> list[str]:
    return re.findall(r"[a-z']+", sentence.lower())


@pytest.fixture(scope="module")
def everything() -> list[dict[str, str]]:
    return rows(*SPLITS)


def near_duplicates(sentences: list[str]) -> list[tuple[str, str]]:
    """Pairs alike in their word trigrams or character 5-grams (Jaccard), or with common words in much one order."""
    shared = {
        "words": jaccard(sentences, analyzer=words),
        "trigrams": jaccard(sentences, analyzer=lambda s: list(zip(*(words(s)[i:] for i in range(3)), strict=False))),
        "characters": jaccard(sentences, analyzer="char_wb", ngram_range=(5, 5)),
    }
    pairs = {tuple(p) for p in np.argwhere(np.triu((shared["trigrams"] > 0.25) | (shared["characters"] > 0.45), 1))}
    for i, j in np.argwhere(np.triu(shared["words"] > 0.25, 1)):
        if difflib.SequenceMatcher(None, sentences[i].lower(), sentences[j].lower(), False).ratio() > 0.7:
            pairs.add((i, j))
    return sorted((sentences[i], sentences[j]) for i, j in pairs)


def jaccard(sentences: list[str], **features) -> np.ndarray:
    # binary counts: (N, N) shared features over features of either
    found = CountVectorizer(binary=True, dtype=np.float64, **features).fit_transform(sentences)
    both = (found @ found.T).toarray()
    size = both.diagonal()
    return both / np.maximum(size[:, None] + size[None, :] - both, 1)


@pytest.mark.parametrize("split", SPLITS)
def test_every_line_has_its_four_columns(split):
    header, *body, last = lines(split)
    assert header == COLUMNS
    assert last == [""]  # the file ends with one newline
    for sentence, label, kind, topic in body:
        assert label in LABELS and kind in KINDS and re.fullmatch("[a-z]+", topic), sentence


@pytest.mark.parametrize("split", SPLITS)
def test_other_readers_find_the_same_rows(split):
    with open(FOLDER / f"{split}.tsv", encoding="utf-8", newline="") as file:
        quoted = list(csv.DictReader(file, delimiter="\t"))  # a reader that believes in quotes
    assert quoted == rows(split)
    ours = TASKS["classification"].read(FOLDER / f"{split}.tsv")
    assert [(e.text, e.label) for e in ours.examples] == [(r["sentence"], r["label"]) for r in quoted]


def test_there_are_enough(everything):
    assert len(everything) >= 720
    sizes = {split: len(rows(split)) / len(everything) for split in SPLITS}
    assert sizes == pytest.approx({"train": 0.70, "dev": 0.15, "test": 0.15}, abs=0.01)


@pytest.mark.parametrize("splits", [SPLITS, *((s,) for s in SPLITS)], ids="-".join)
def test_classes_are_balanced_overall_in_each_split_and_in_each_kind(splits):
    chosen = rows(*splits)
    for kind in (None, *KINDS):
        labels = Counter(r["label"] for r in chosen if kind in (None, r["kind"]))
        assert labels["positive"] / labels.total() == pytest.approx(0.5, abs=0.05), kind


@pytest.mark.parametrize("splits", [SPLITS, *((s,) for s in SPLITS)], ids="-".join)
def test_kinds_keep_their_shares(splits):
    kinds = Counter(r["kind"] for r in rows(*splits))
    assert {k: n / kinds.total() for k, n in kinds.items()} == pytest.approx(KINDS, abs=0.02)


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


def test_sentences_are_clean(everything):
    for sentence in (r["sentence"] for r in everything):
        assert 5 <= len(sentence.split()) <= 30, sentence
        assert sentence == " ".join(sentence.split()) and '"' not in sentence, sentence
        assert sentence.isprintable() and unicodedata.is_normalized("NFC", sentence), sentence
        assert sentence[0].isupper() and sentence[-1] in ".!?", sentence


def test_nothing_is_said_twice(everything):
    sentences = [r["sentence"] for r in everything]
    assert len({" ".join(words(s)) for s in sentences}) == len(sentences)
    assert near_duplicates(sentences) == []


@pytest.mark.parametrize(
    "copy",
    [
        "The seats are hard, narrow and badly stained.",
        "I usually dislike stories about queens, yet this one kept me up until four.",
        "Outside my window the whole coast, a comfortable seat and a smiling crew.",
    ],
)
def test_a_planted_near_duplicate_is_found(everything, copy):
    found = near_duplicates([*(r["sentence"] for r in everything), copy])
    assert len(found) == 1 and copy in found[0]


def test_no_word_gives_the_class_away(everything):
    seen = {
        label: Counter(w for r in everything if r["label"] == label for w in set(words(r["sentence"])))
        for label in LABELS
    }
    for word in seen["positive"] | seen["negative"]:
        counts = [seen[label][word] for label in LABELS]
        assert sum(counts) < 15 or max(counts) / sum(counts) <= 0.9, (word, counts)


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


def test_readme_states_the_sizes():
    for kind in (*KINDS, "all"):
        counts = [sum(kind in (r["kind"], "all") for r in rows(split)) for split in SPLITS]
        assert row_of(kind, *counts, sum(counts)) in readme("reviews")


def test_readme_quotes_real_sentences(everything):
    real = {(r["sentence"], r["kind"], r["label"]) for r in everything}
    quoted = re.findall(rf"^\| ({'|'.join(KINDS)}) \| (positive|negative) \| (.+?) \|$", readme("reviews"), re.M)
    assert {(kind, label) for kind, label, _ in quoted} == {(k, label) for k in KINDS for label in LABELS}
    assert all((sentence, kind, label) in real for kind, label, sentence in quoted)
