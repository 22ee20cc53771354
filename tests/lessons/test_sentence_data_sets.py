"""The small data sets of sentences: whole, balanced, nothing in both parts, no label given away by the surface."""

import csv
import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

from tests.lessons import data_files
from tests.lessons.data_files import PARTS, alike, assert_clean, bag, lines, readme, row_of, said_once, text, words

# --- what all sets share ---------------------------------------------------------------------------------------------


def table(name: str, part: str) -> list[dict[str, str]]:
    header, *body = lines(f"{name}/{part}.tsv")
    return [dict(zip(header, row, strict=True)) for row in body]


def assert_table_in_readme(name: str, counts: dict[str, Counter]):
    """Each label's row says how often it occurs in train, in dev and in all."""
    for label in counts["train"] | counts["dev"]:
        train, dev = (counts[part][label] for part in PARTS)
        assert row_of(label, train, dev, train + dev) in readme(name), label


# --- pairs -----------------------------------------------------------------------------------------------------------

INFERENCES = ("entailment", "neutral", "contradiction")
NEGATION = re.compile(r"\b(?:not|no|never|nobody|nothing|none|cannot|without|neither|nor|hardly)\b|n't\b", re.I)


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    return [row for part in PARTS for row in table("pairs", part)]


def shared_words(pair: dict[str, str]) -> float:
    """The share of the hypothesis's different words that the premise has too."""
    premise, hypothesis = set(words(pair["sentence1"])), set(words(pair["sentence2"]))
    return len(premise & hypothesis) / len(hypothesis)


@pytest.mark.parametrize(("part", "least"), [("train", 360), ("dev", 120)])
def test_each_premise_comes_once_with_each_label(part, least):
    rows = table("pairs", part)
    assert len(rows) >= least and list(rows[0]) == ["index", "sentence1", "sentence2", "label"]  # as RTE
    cells = Counter((row["sentence1"], row["label"]) for row in rows)
    assert set(cells) == {(premise, label) for premise, _ in cells for label in INFERENCES}
    assert set(cells.values()) == {1}


def test_negation_overlap_and_length_are_no_cue(pairs):
    alone = re.compile(r"\bnot\b|cannot|n't")
    measures = {
        "any": (lambda pair: bool(NEGATION.search(pair["sentence2"])), 0.1),
        "not": (lambda pair: bool(alone.search(pair["sentence2"])), 0.1),
        "overlap": (shared_words, 0.04),
        "length": (lambda pair: len(words(pair["sentence2"])), 0.5),
    }
    for what, (measure, most) in measures.items():
        means = {label: np.mean([measure(p) for p in pairs if p["label"] == label]) for label in INFERENCES}
        print(what, {label: f"{mean:.3f}" for label, mean in means.items()})
        assert min(means.values()) > 0.2 and max(means.values()) - min(means.values()) < most
    features = [[shared_words(p), len(words(p["sentence2"])), bool(NEGATION.search(p["sentence2"]))] for p in pairs]
    score = held_out_accuracy(make_pipeline(StandardScaler(), LogisticRegression()), features, pairs)
    print(f"overlap, length and negation together: {score:.1%}")
    assert score < 0.42  # chance is 1/3


def test_the_hypothesis_alone_says_little(pairs):
    score = held_out_accuracy(bag(), [p["sentence2"] for p in pairs], pairs)
    print(f"bag of words of the hypothesis alone: {score:.1%}")
    assert score < 0.5


def held_out_accuracy(model, inputs, pairs) -> float:
    # ten folds, a premise's three pairs always together
    labels, premises = [p["label"] for p in pairs], [p["sentence1"] for p in pairs]
    return cross_val_score(model, inputs, labels, groups=premises, cv=GroupKFold(10)).mean()


def test_readme_counts_and_quotes_the_pairs(pairs):
    assert_table_in_readme("pairs", {part: Counter(row["label"] for row in table("pairs", part)) for part in PARTS})
    counts = [len({row["sentence1"] for row in table("pairs", part)}) for part in PARTS]
    assert f"| premises | {counts[0]} | {counts[1]} | {sum(counts)} |" in readme("pairs")
    quoted = re.findall(rf"^\| ({'|'.join(INFERENCES)}) \| ([^|]+\.) \| ([^|]+\.) \|$", readme("pairs"), re.M)
    assert len(quoted) == 3
    assert set(quoted) <= {(pair["label"], pair["sentence1"], pair["sentence2"]) for pair in pairs}


# --- similarity ------------------------------------------------------------------------------------------------------

KINDS = ("ordinary", "same-words", "other-words")
BANDS = ("0.0–0.9", "1.0–1.9", "2.0–2.9", "3.0–3.9", "4.0–5.0")


def common_words(row: dict[str, str]) -> float:
    """Jaccard: the words of both sentences over the words of either."""
    first, second = set(words(row["sentence1"])), set(words(row["sentence2"]))
    return len(first & second) / len(first | second)


def band(row: dict[str, str]) -> str:
    return BANDS[min(4, int(float(row["score"])))]


@pytest.mark.parametrize(("part", "least"), [("train", 300), ("dev", 100)])
def test_scores_are_spread_over_the_whole_range(part, least):
    rows = table("similarity", part)
    columns = "index genre filename year old_index source1 source2 sentence1 sentence2 score"
    assert len(rows) >= least and list(rows[0]) == columns.split()  # as STS-B
    assert all(re.fullmatch(r"[0-4]\.\d|5\.0", row["score"]) and row["filename"] in KINDS for row in rows)
    shares = {b: n / len(rows) for b, n in Counter(map(band, rows)).items()}
    assert set(shares) == set(BANDS) and min(shares.values()) > 0.15 and max(shares.values()) < 0.3
    assert min(float(r["score"]) for r in rows) == 0 and max(float(r["score"]) for r in rows) == 5


@pytest.mark.parametrize("part", PARTS)
def test_words_in_common_mislead_where_the_kind_says_so(part):
    kinds = {kind: [row for row in table("similarity", part) if row["filename"] == kind] for kind in KINDS}
    assert len(kinds["same-words"]) >= 12 and len(kinds["other-words"]) >= 8
    assert all(common_words(r) >= 0.4 and float(r["score"]) <= 2.5 for r in kinds["same-words"])
    assert all(common_words(r) <= 0.2 and float(r["score"]) >= 3.5 for r in kinds["other-words"])


def test_counting_common_words_is_not_enough():
    rows = [row for part in PARTS for row in table("similarity", part)]
    pearson = {}
    for kind in ("all", "ordinary"):
        chosen = [r for r in rows if kind in ("all", r["filename"])]
        pearson[kind] = np.corrcoef([float(r["score"]) for r in chosen], [common_words(r) for r in chosen])[0, 1]
    print("score against common words, Pearson:", {kind: f"{r:.3f}" for kind, r in pearson.items()})
    assert pearson["all"] < 0.3 and 0.5 < pearson["ordinary"] < 0.8


def test_readme_counts_and_quotes_the_scores_and_kinds():
    rows = {part: table("similarity", part) for part in PARTS}
    assert_table_in_readme("similarity", {part: Counter(map(band, rows[part])) for part in PARTS})
    assert_table_in_readme("similarity", {part: Counter(row["filename"] for row in rows[part]) for part in PARTS})
    every = rows["train"] + rows["dev"]
    real = {frozenset((row["sentence1"], row["sentence2"])): float(row["score"]) for row in every}
    quoted = re.findall(r"^\| ([0-5]) \| [^|]+ \| ([^|]+) / ([^|]+) \|$", readme("similarity"), re.M)
    assert len(quoted) == 6
    assert all(abs(real[frozenset((one, other))] - int(score)) < 0.5 for score, one, other in quoted)


# --- emotions --------------------------------------------------------------------------------------------------------

EMOTIONS = ["joy", "sadness", "anger", "fear", "surprise", "gratitude", "curiosity", "neutral"]


def messages(part: str) -> list[tuple[str, list[str], str]]:
    rows = lines(f"emotions/{part}.tsv")
    return [(said, [EMOTIONS[int(number)] for number in numbers.split(",")], id_) for said, numbers, id_ in rows]


def test_ids_come_once_and_pairs_of_emotions_in_dev_are_those_of_train():
    ids = [id_ for part in PARTS for *_, id_ in messages(part)]
    assert len(set(ids)) == len(ids)
    seen = [{pair for _, labels, _ in messages(part) for pair in combinations(labels, 2)} for part in PARTS]
    assert seen[1] <= seen[0] and len(seen[0]) == 21  # all pairs of the seven


@pytest.mark.parametrize(("part", "least"), [("train", 360), ("dev", 120)])
def test_every_emotion_is_there_alone_and_with_others_in_the_layout_of_goemotions(part, least):
    assert [[emotion] for emotion in EMOTIONS] == lines("emotions/labels.txt")
    for said, numbers, id_ in lines(f"emotions/{part}.tsv"):
        assert said and re.fullmatch("[0-7](,[0-7])*", numbers) and re.fullmatch(r"m\d{4}", id_), said
        assert numbers.split(",") == sorted(set(numbers.split(",")))
    found = messages(part)
    assert len(found) >= least
    assert all(labels == ["neutral"] or "neutral" not in labels for _, labels, _ in found)
    assert sum(len(labels) > 1 for _, labels, _ in found) / len(found) >= 0.25
    counts = Counter(label for _, labels, _ in found for label in labels)
    assert set(counts) == set(EMOTIONS) and max(counts.values()) <= 1.5 * min(counts.values())
    for emotion in EMOTIONS[:-1]:
        others = {label for _, labels, _ in found if emotion in labels for label in labels} - {emotion}
        assert [emotion] in [labels for _, labels, _ in found] and len(others) >= 4, emotion
    assert {"?" in said for said, labels, _ in found if labels == ["neutral"]} == {True, False}


def test_readme_counts_and_quotes_the_emotions():
    found = {part: messages(part) for part in PARTS}
    counts = {part: Counter(label for _, labels, _ in found[part] for label in labels) for part in PARTS}
    assert_table_in_readme("emotions", counts)
    sizes = {part: Counter(f"messages with {len(labels)}" for _, labels, _ in found[part]) for part in PARTS}
    assert_table_in_readme("emotions", sizes)
    quoted = re.findall(rf"^\| ((?:(?:{'|'.join(EMOTIONS)})(?:, )?)+) \| ([^|]+[.!?]) \|$", readme("emotions"), re.M)
    real = {(", ".join(labels), said) for part in PARTS for said, labels, _ in found[part]}
    assert len(quoted) == 10 and set(quoted) <= real


def test_counting_words_finds_half_of_the_emotions():
    train, dev = messages("train"), messages("dev")
    names = MultiLabelBinarizer(classes=EMOTIONS)
    truth = names.fit_transform([labels for _, labels, _ in train])
    each = bag(OneVsRestClassifier(LogisticRegression(max_iter=1000)))
    guess = each.fit([said for said, _, _ in train], truth).predict_proba([said for said, _, _ in dev]) > 0.3
    truth = names.transform([labels for _, labels, _ in dev])
    micro, macro = (f1_score(truth, guess, average=how) for how in ("micro", "macro"))
    print(f"F1 on dev, micro {micro:.1%}, macro {macro:.1%}")
    print({name: f"{f1:.1%}" for name, f1 in zip(EMOTIONS, f1_score(truth, guess, average=None), strict=True)})
    assert 0.4 < micro < 0.65


# --- intents ---------------------------------------------------------------------------------------------------------

INTENT_SETS = ("intents", "intents-zh")
INTENTS = ["set_alarm", "play_music", "get_weather", "add_to_list", "book_table", "find_book", "switch_device"]
INTENTS += ["ask_timetable"]
ENTITIES = {"time", "day", "place", "person", "title", "item", "number", "device", "subject"}
ENTITY = re.compile(r"\[([^\[\]()]+)\]\(([a-z]+)\)")


def requests(name: str, part: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Of each line: the plain text, its intent, its entities as (text, type)."""
    found, intent = [], None
    for line in text(f"{name}/{part}.md").splitlines():
        if heading := re.fullmatch(r"## intent:([a-z_]+)", line):
            intent = heading[1]
        elif line:
            assert line.startswith("- "), line
            found.append((ENTITY.sub(r"\1", line[2:]), intent, ENTITY.findall(line)))
    return found


@pytest.mark.parametrize(
    ("name", "part", "least"),
    [("intents", "train", 400), ("intents", "dev", 130), ("intents-zh", "train", 200), ("intents-zh", "dev", 70)],
)
def test_there_are_enough_requests_of_each_intent_and_no_stray_marks(name, part, least):
    assert re.findall("^#.*", text(f"{name}/{part}.md"), re.M) == [f"## intent:{intent}" for intent in INTENTS]
    found = requests(name, part)
    assert len(found) >= least
    for said, _, entities in found:
        assert not re.search(r"[\[\]()#]", said), said
        for value, kind in entities:
            assert kind in ENTITIES and value == value.strip() and not re.search("[,.?!，。？！]$", value), said
    assert set(Counter(intent for _, intent, _ in found).values()) == {len(found) // len(INTENTS)}
    kinds = Counter(kind for *_, entities in found for _, kind in entities)
    assert set(kinds) == ENTITIES and min(kinds.values()) >= 4
    assert any(not entities for *_, entities in found)


@pytest.mark.parametrize(("name", "analyzer", "least"), [("intents", "word", 0.65), ("intents-zh", "char", 0.55)])
def test_counting_words_finds_most_intents(name, analyzer, least):
    train, dev = requests(name, "train"), requests(name, "dev")
    model = bag(analyzer=analyzer).fit([said for said, *_ in train], [intent for _, intent, _ in train])
    score = model.score([said for said, *_ in dev], [intent for _, intent, _ in dev])
    print(f"{name}: accuracy on dev {score:.1%}")
    assert least < score < 0.95


@pytest.mark.parametrize("name", INTENT_SETS)
def test_dev_has_entities_that_train_never_names(name):
    known, asked = ([entity for *_, entities in requests(name, part) for entity in entities] for part in PARTS)
    new = data_files.new_ones(known, asked)
    print(f"{name}: {new:.1%} of {len(asked)} entities in dev are new")
    assert 0.2 < new < 0.7


@pytest.mark.parametrize("name", INTENT_SETS)
def test_readme_counts_and_quotes_the_requests(name):
    found = {part: requests(name, part) for part in PARTS}
    assert_table_in_readme(name, {part: Counter(intent for _, intent, _ in found[part]) for part in PARTS})
    kinds = {part: Counter(kind for *_, entities in found[part] for _, kind in entities) for part in PARTS}
    assert_table_in_readme(name, kinds)
    quoted = re.findall(r"^\| ([a-z_]+) \| ([^|]*[^|\d ][^|]*) \|$", readme(name), re.M)
    quoted = [(intent, said) for intent, said in quoted if intent in INTENTS]
    assert [intent for intent, _ in quoted] == INTENTS
    for intent, said in quoted:
        assert (ENTITY.sub(r"\1", said), intent, ENTITY.findall(said)) in found["train"] + found["dev"], said


# --- what holds for all ----------------------------------------------------------------------------------------------


def texts_of(name: str, part: str) -> list[str]:
    if name in INTENT_SETS:
        return [said for said, *_ in requests(name, part)]
    if name == "emotions":
        return [said for said, _, _ in messages(part)]
    first, second = ([row[column] for row in table(name, part)] for column in ("sentence1", "sentence2"))
    return [*(dict.fromkeys(first) if name == "pairs" else first), *second]  # a premise comes three times


@pytest.mark.parametrize("name", ["pairs", "similarity", "emotions", *INTENT_SETS])
def test_sentences_are_clean_none_comes_twice_nor_leaks_into_dev(name):
    train, dev = (texts_of(name, part) for part in PARTS)
    assert_clean(train + dev)
    assert said_once(train + dev) and alike(train, dev) == []
    assert {bool(re.search("[\u4e00-\u9fff]", said)) for said in train + dev} == {name == "intents-zh"}
    if name in ("pairs", "similarity"):
        assert all(said[0].isupper() and said[-1] in ".!?" for said in train + dev)


@pytest.mark.parametrize("name", ["pairs", "similarity"])
@pytest.mark.parametrize("part", PARTS)
def test_a_reader_that_believes_in_quotes_finds_the_same(name, part):
    rows = table(name, part)
    assert [row["index"] for row in rows] == [str(i) for i in range(len(rows))]
    assert list(csv.DictReader(text(f"{name}/{part}.tsv").splitlines(), delimiter="\t")) == rows
