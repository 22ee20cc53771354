"""Several labels at once: GoEmotions with its labels file, thresholds, F1."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from minibert.tasks import TASKS, Options, Problem
from minibert.tasks.labels import LabelsExample, best_threshold

TASK = TASKS["multilabel"]
TEXT = b"so good\t1,2\tid1\nso bad\t0\tid2\nodd\t7\tid3\nno\tx\tid4\n"


def test_numbers_get_their_names_from_the_file_beside(tmp_path):
    (tmp_path / "train.tsv").write_bytes(TEXT)
    (tmp_path / "labels.txt").write_text("anger\nmixed feelings\n\n love \nfear\n")
    data = TASK.read(tmp_path / "train.tsv")
    assert [e.labels for e in data.examples] == [("mixed feelings", "love"), ("anger",)]
    assert data.examples[0].extra == {"id": "id1"}
    # In the order of the file, also those that never occur.
    assert data.labels == ["anger", "mixed feelings", "love", "fear"]
    assert data.imbalance.missing == ["fear"]
    assert data.problems == [
        Problem(3, 2, "label 7, but labels.txt names 4, from 0"),
        Problem(4, 2, "'x' are not label numbers with commas between"),
    ]
    bare = TASK.parse(TEXT, "train.tsv")
    assert bare.labels == ["0", "1", "2", "7"] and len(bare.problems) == 1


def test_a_header_with_names_and_texts_without_a_label():
    data = TASK.parse(b'text,labels\ngood,"joy, love"\nbad,anger\nplain,\n', "x.csv")
    assert [e.labels for e in data.examples] == [("joy", "love"), ("anger",), ()]
    assert data.counts == {"joy": 1, "love": 1, "anger": 1} and not data.problems


def test_each_label_has_its_own_threshold():
    outputs = [{"logits": np.array([0.0, 2.0, -3.0], dtype=np.float32)}]
    answer = lambda **options: TASK.decode(outputs, [], [LabelsExample("x")], ["a", "b", "c"], Options(**options))[0]  # noqa: E731
    assert answer()["labels"] == ["a", "b"]
    own = answer(thresholds=(0.6, 0.9, 0.01))
    assert own["labels"] == ["c"] and own["thresholds"] == {"a": 0.6, "b": 0.9, "c": 0.01}
    details = TASK.details([own], [LabelsExample("x", ("a",))], ["a", "b", "c"])["by_label"]
    assert [details[label]["threshold"] for label in "abc"] == [0.6, 0.9, 0.01]
    assert answer()["probabilities"]["b"] == pytest.approx(1 / (1 + np.exp(-2)))


def test_metrics_are_scikit_learns():
    truth = [("a",), ("a", "b"), (), ("c",)]
    said = [("a", "b"), ("b",), (), ("c",)]
    examples = [LabelsExample("x", labels) for labels in truth]
    answers = [{"labels": list(labels), "probabilities": dict.fromkeys("abc", 0.5)} for labels in said]
    table = [[[int(label in row) for label in "abc"] for row in rows] for rows in (truth, said)]
    scores = TASK.score(answers, examples)
    assert scores["micro_f1"] == pytest.approx(f1_score(*table, average="micro"))
    assert scores["macro_f1"] == pytest.approx(f1_score(*table, average="macro"))
    assert scores["exact"] == 0.5


def test_the_tuned_threshold_is_the_best_of_all():
    rng = np.random.default_rng(0)
    for _ in range(4):
        truth = (rng.random(30) < 0.3).astype(int)
        probs = np.round(np.clip(truth * 0.3 + rng.random(30) * 0.6, 0, 1), 1)  # with many equal ones
        best = f1_score(truth, probs >= best_threshold(probs, truth), zero_division=0.0)
        grid = [f1_score(truth, probs >= t, zero_division=0.0) for t in np.linspace(0, 1, 21)]
        assert best >= max(grid) - 1e-9
    assert best_threshold(np.array([0.9, 0.1]), np.array([0, 0])) == 0.5
