"""Which reply follows: dialogues read, replies drawn, rankings measured against scikit-learn."""

from collections import defaultdict

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score, top_k_accuracy_score

from minibert.tasks import TASKS, Options, Problem, TaskDataError
from minibert.tasks.next_utterances import CANDIDATES, ReplyExample
from tests.shipped import DATA, SETS

TASK = TASKS["next-utterance"]
DIALOGUES = b"Anna: Is it far?\nBen: Two hours.\nAnna: By train?\nAnna: Or by bus?\n\n"
DIALOGUES += b"Cleo: What a hat!\nDan: It was my aunt's.\n"


def test_every_turn_but_the_first_is_a_right_reply():
    data = TASK.parse(DIALOGUES, "a.txt")
    assert data.problems == []
    turns = [("Is it far?",), ("Is it far?", "Two hours."), ("What a hat!",)]
    assert [example.turns for example in data.examples] == turns
    right = [example.choices[example.label] for example in data.examples]
    assert right == ["Two hours.", "By train? Or by bus?", "It was my aunt's."]
    assert sorted(data.examples[0].choices) == ["It was my aunt's.", "Two hours."]


def test_wrong_replies_are_of_other_dialogues_and_always_the_same():
    data, said = TASK.read(DATA / SETS["next-utterance"]), defaultdict(set)
    for example in data.examples:
        said[example.turns[0]] |= {*example.turns, example.choices[example.label]}
    for example in data.examples:
        others = [one for i, one in enumerate(example.choices) if i != example.label]
        assert len(set(others)) == CANDIDATES - 1 and not said[example.turns[0]] & set(others)
    assert TASK.read(DATA / SETS["next-utterance"]).examples == data.examples


def test_bad_lines_of_dialogues_are_named():
    data = TASK.parse(b"Anna: Hello.\nsomething\n\nA: one turn\n\n" + DIALOGUES + b"\nE:\nF: a\tb\n", "a.txt")
    why = "expected `NAME: what was said`; its dialogue is passed over"
    alone = Problem(4, None, "a dialogue of one turn has no reply")
    assert data.problems == [Problem(2, 1, why), alone, Problem(14, 1, why), Problem(15, 1, why)]
    assert len(data.examples) == 3
    with pytest.raises(TaskDataError, match="line 2, column 1"):
        TASK.parse(b"Anna: Hello.\nsomething\n", "a.txt", strict=True)
    with pytest.raises(TaskDataError, match="no reply of another dialogue"):
        TASK.parse(b"Anna: Hello.\nBen: Hi!\n", "a.txt")


def test_the_ubuntu_corpus_is_read():
    header = b"Context,Ground Truth Utterance,Distractor_0,Distractor_1\n"
    turns = b'"any help? __eou__ with sound __eou__ __eot__ which card? __eou__ __eot__"'
    bad = b"q __eot__,same,other,same\n __eot__ ,a,b,c\nq,a,b\n"
    data = TASK.parse(header + turns + b',an old one __eou__,no,"yes, now"\n' + bad, "valid.csv")
    (example,) = data.examples
    assert example.turns == ("any help? with sound", "which card?")
    assert example.choices[example.label] == "an old one" and set(example.choices) == {"an old one", "no", "yes, now"}
    assert [(problem.line, problem.column) for problem in data.problems] == [(3, 4), (4, 1), (5, 4)]


def test_of_the_ubuntu_training_set_the_right_replies_are_read():
    rows = "".join(f"turn {i} __eot__,reply {i},1.0\nturn {i} __eot__,reply {i + 1},0.0\n" for i in range(8))
    data = TASK.parse(("Context,Utterance,Label\n" + rows + "x,y,maybe\n").encode(), "train.csv")
    assert [example.choices[example.label] for example in data.examples] == [f"reply {i}" for i in range(8)]
    assert {len(example.choices) for example in data.examples} == {CANDIDATES}
    assert data.problems == [Problem(18, 3, "the label is 'maybe', not 0 or 1")]


def test_lines_with_the_same_turns_are_one_example():
    data = TASK.parse(b"0\ta\tb\tc\n1\ta\tb\td\n0\tx\ty\n0\tx\tz\n2\ta\tb\n1\ta\n1\ta\t\tb\n", "a.txt")
    assert data.examples == [ReplyExample(("a", "b"), ("c", "d"), 1)]
    assert data.problems == [
        Problem(5, 1, "the label is '2', not 0 or 1"),
        Problem(6, 3, "2 columns where a label, turns and a reply stand"),
        Problem(7, 3, "a turn or the reply is empty"),
        Problem(3, 1, "of 2 replies to these turns 0 are right, where one of several must be"),
    ]


def test_the_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    logits, truth = rng.normal(size=(200, 8)), rng.integers(0, 8, size=200)
    examples = [ReplyExample(("a",), tuple("bcdefghi"), int(label)) for label in truth]
    said = TASK.decode([{"logits": row} for row in logits], [], examples, ["score"], Options())
    scores = TASK.score(said, examples)
    for k in (1, 2, 5):
        assert scores[f"recall_at_{k}"] == pytest.approx(top_k_accuracy_score(truth, logits, k=k, labels=range(8)))
    expected = label_ranking_average_precision_score(np.eye(8)[truth], logits)
    assert scores["mean_reciprocal_rank"] == pytest.approx(expected)
    assert np.mean([TASK.grade(*pair) for pair in zip(said, examples, strict=True)]) == pytest.approx(expected)


def test_an_answer_is_a_ranking():
    example, logits = ReplyExample(("a",), ("b", "c", "d"), 0), np.array([2.0, 3.0, 1.0])
    (said,) = TASK.decode([{"logits": logits}], [], [example], ["score"], Options())
    assert said["ranking"] == [1, 0, 2] and said["answer"] == "c" and TASK.plain(said) == "c  0.665"
    assert TASK.trivial([{"choices": ["b", "c"]}, {"choices": ["b", "c", "d", "e"]}]) == (1 / 2 + 1 / 4) / 2


def test_a_long_dialogue_loses_its_beginning(mini):
    example = ReplyExample(("one two three", "four five six"), ("seven", "eight nine"), 1)
    rows = TASK.input_rows(mini[1], example, ["score"], Options(max_length=9))
    read = [" ".join(t for t, cut in zip(row.tokens, row.cut, strict=True) if not cut) for row in rows]
    assert read == [
        "[CLS] three [SEP] four five six [SEP] seven [SEP]",
        "[CLS] [SEP] four five six [SEP] eight nine [SEP]",
    ]
    assert [row.right for row in rows] == [False, True]
