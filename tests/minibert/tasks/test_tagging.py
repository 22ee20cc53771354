"""Tagging: CoNLL columns with their traps, first pieces, windows, seqeval's scores."""

import random
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report, f1_score
from seqeval.metrics.sequence_labeling import get_entities

from minibert.model import IGNORE
from minibert.tasks import TASKS, Options, Problem, TaskDataError
from minibert.tasks.entity_errors import OUTCOMES, compare_entities, count_outcomes
from minibert.tasks.tagging import TaggedExample, entities, owners, to_iob2, windows_of, word_offsets

TASK = TASKS["tagging"]
LABELS = ["O", "B-X", "I-X"]
TAGS = ["O", "B-A", "I-A", "B-B", "I-B"]
CONLL = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
British JJ I-NP B-MISC

Peter NNP I-NP I-PER
"""


def parse(text: str, **options):
    return TASK.parse(text.encode(), "eng.train", **options)


def test_conll_with_its_document_marks_and_iob1_and_characters():
    data = parse(CONLL)
    assert data.examples[0].words == ("EU", "rejects", "German", "British")
    assert data.examples[0].tags == ("B-ORG", "O", "B-MISC", "B-MISC")
    assert data.examples[1].tags == ("B-PER",) and not data.problems
    assert data.labels == ["MISC", "ORG", "PER"] and data.counts["MISC"] == 2
    assert TASK.labels(data) == ["O", "B-MISC", "I-MISC", "B-ORG", "I-ORG", "B-PER", "I-PER"]

    data = parse("中\tB-ORG\n国\tI-ORG\n\u3000\tO\n\n\xa0 O\n人 O\n")  # a word may be a space
    assert data.examples[0].words == ("中", "国", "\u3000") and data.examples[1].words == ("\xa0", "人")


def test_a_sentence_with_a_bad_line_is_passed_over_and_the_line_named():
    data = parse("a X O\nb X\n\nc X O\nd X PER\n\ne X I-LOC\n")
    assert [e.words for e in data.examples] == [("e",)]
    assert data.problems == [
        Problem(2, 3, "2 columns where 3 columns are expected"),
        Problem(5, 3, "'PER' is no tag such as O, B-PER or I-PER"),
    ]
    with pytest.raises(TaskDataError, match=r"eng.train, line 2, column 3"):
        parse("a X O\nb X\n", strict=True)
    assert parse(CONLL, labels=["ORG", "PER"]).problems[0] == Problem(5, 4, "'MISC' is none of the labels ORG, PER")


def test_every_scheme_becomes_iob2():
    for tags, expected in (
        ("I-A I-A B-A I-B O I-B", "B-A I-A B-A B-B O B-B"),  # IOB1
        ("B-A I-A O B-A", "B-A I-A O B-A"),  # IOB2
        ("B-A I-A E-A S-B O", "B-A I-A I-A B-B O"),  # BIOES
        ("B-A L-A U-A O", "B-A I-A B-A O"),  # BILOU
        ("B-A M-A E-A S-A", "B-A I-A I-A B-A"),  # BMES
    ):
        assert " ".join(to_iob2(tags.split())) == expected


@given(st.lists(st.sampled_from([*TAGS, "E-A", "S-A", "E-B", "S-B"]), max_size=12))
def test_entities_are_those_that_seqeval_finds(tags):
    assert entities(tags) == [(start, end + 1, kind) for kind, start, end in get_entities(tags)]


@given(st.lists(st.sampled_from(TAGS), max_size=12))
def test_iob2_names_the_same_entities(tags):
    assert entities(to_iob2(tags)) == entities(tags)
    assert to_iob2(to_iob2(tags)) == to_iob2(tags)


def test_the_first_piece_counts(letters):
    example = TaggedExample(("ab", "c", "\u0301"), ("B-X", "O", "I-X"))
    (row,) = TASK.features(letters, [example], LABELS, Options(max_length=16))
    assert letters.decode(row.ids) == "[CLS] ab c [UNK] [SEP]"  # a word that leaves nothing is [UNK]
    assert row.target == [IGNORE, 1, IGNORE, 0, 2, IGNORE] and row.words == ((1, 0), (3, 1), (4, 2))


def test_every_word_of_a_long_sentence_is_asked_once_where_it_sees_most(letters):
    words = tuple(ascii_lowercase[i % 26] * (1 + i % 3) for i in range(40))
    tags = tuple("O" if i % 2 else "B-X" for i in range(40))
    rows = TASK.features(letters, [TaggedExample(words, tags)], LABELS, Options(max_length=16, doc_stride=6))
    assert len(rows) > 4 and all(row.length <= 16 for row in rows)
    assert sorted(word for row in rows for _, word in row.words) == list(range(40))
    for row in rows:
        for position, word in row.words:
            assert letters.vocab[row.ids[position]] == words[word][0]
            assert row.target[position] == LABELS.index(tags[word])
        assert sum(t != IGNORE for t in row.target) == len(row.words)
    logits = []  # all words get a tag, also those past the first window
    for row in rows:
        scores = np.zeros((row.length, 3), dtype=np.float32)
        for position, word in row.words:
            scores[position, LABELS.index(tags[word])] = 5
        logits.append({"logits": scores})
    (answer,) = TASK.decode(logits, rows, [TaggedExample(words)], LABELS, Options())
    assert tuple(answer["tags"]) == tags and len(answer["entities"]) == 20


@given(st.lists(st.integers(1, 5), max_size=30), st.integers(5, 12), st.integers(1, 12))
def test_windows_leave_no_word_out(lengths, room, stride):
    windows = windows_of(lengths, room, stride)
    assert all(sum(lengths[a:b]) <= room for a, b in windows)
    assert {word for a, b in windows for word in range(a, b)} == set(range(len(lengths)))
    assert all(windows[n][0] <= word < windows[n][1] for word, n in enumerate(owners(windows, len(lengths))))


def test_scores_are_seqevals():
    rng = random.Random(0)
    truth = [to_iob2([rng.choice(TAGS) for _ in range(9)]) for _ in range(20)]
    said = [[t if rng.random() < 0.7 else rng.choice(TAGS) for t in row] for row in truth]
    examples = [TaggedExample(tuple("abcdefghi"), row) for row in truth]
    scores = TASK.score([{"tags": row} for row in said], examples)
    assert scores["f1"] == pytest.approx(f1_score([list(row) for row in truth], said))
    assert 0 < scores["f1"] < 1 and 0 < scores["tag_accuracy"] < 1
    nothing = [TaggedExample(("a",), ("O",))]
    assert TASK.score([{"tags": ["O"]}], nothing)["f1"] == 0.0


def test_running_text_is_cut_into_words_with_their_places():
    text = "Bob's 2nd 北京café!"
    assert [text[a:b] for a, b in word_offsets(text)] == ["Bob", "'", "s", "2nd", "北", "京", "café", "!"]
    example = TASK.example({"text": text})
    assert example.words[4] == "北" and TASK.example(["a b", "c"]).words == ("a b", "c")


XY = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=9, max_size=9).map(to_iob2)


def test_each_mistake_has_its_name():
    for truth, said, kinds in (
        ("B-X I-X O", "B-X I-X O", ["right"]),
        ("B-X I-X O", "B-Y I-Y O", ["type"]),
        ("B-X I-X O", "B-X O O", ["border"]),
        ("B-X I-X O", "O B-Y I-Y", ["both"]),
        ("B-X I-X O", "O O O", ["missed"]),
        ("O O O", "O B-Y O", ["invented"]),
        ("B-X I-X I-X", "B-X B-X I-X", ["invented", "border"]),  # the larger overlap is the same entity
        ("B-X I-X B-Y", "B-X I-X I-X", ["border", "missed"]),
        ("B-X B-Y I-Y", "B-Y I-Y I-Y", ["missed", "border"]),  # the type before the place
    ):
        found = compare_entities(truth.split(), said.split())
        assert [one.kind for one in found] == kinds
        if kinds == ["invented", "border"]:
            assert [one.said for one in found] == [(0, 1, "X"), (1, 3, "X")]


@given(st.lists(st.tuples(XY, XY), min_size=1, max_size=5))
def test_the_counts_are_those_of_seqeval(rows):
    counts = count_outcomes(rows)
    truth, said = [list(t) for t, _ in rows], [list(s) for _, s in rows]
    total = {name: sum(by[name] for by in counts.values()) for name in OUTCOMES}
    meant, found = (sum(len(entities(tags)) for tags in side) for side in (truth, said))
    assert meant == sum(total.values()) - total["invented"]
    assert found == sum(total.values()) - total["missed"]
    if not meant:
        return
    report = classification_report(truth, said, output_dict=True, zero_division=0)
    for kind, by in counts.items():
        if kind in report:
            assert report[kind]["support"] == sum(by.values()) - by["invented"]
            assert report[kind]["recall"] == pytest.approx(by["right"] / max(1, report[kind]["support"]))
    micro = report["micro avg"]
    assert micro["precision"] == pytest.approx(total["right"] / found if found else 0.0)
    assert micro["recall"] == pytest.approx(total["right"] / meant)
