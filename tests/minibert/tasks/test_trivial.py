"""The line a model has to beat, against the tasks' own scores."""

from dataclasses import asdict
from pathlib import Path

import pytest

from minibert.tasks import TASKS

DATA = Path(__file__).resolve().parents[3] / "lessons" / "data"


def dev(task: str, path: str):
    examples = TASKS[task].read(DATA / path).examples
    return examples, [asdict(example) for example in examples]


def test_the_commonest_class():
    examples, rows = dev("classification", "reviews/dev.tsv")
    answers = [{"label": "positive", "probabilities": {"negative": 0.0, "positive": 1.0}}] * len(examples)
    assert TASKS["classification"].trivial(rows) == TASKS["classification"].score(answers, examples)["accuracy"]


def test_the_commonest_label():
    examples, rows = dev("multilabel", "emotions/dev.tsv")
    labels = TASKS["multilabel"].read(DATA / "emotions/dev.tsv").labels
    answers = [{"labels": ["joy"], "probabilities": dict.fromkeys(labels, 0.0)}] * len(examples)
    score = TASKS["multilabel"].score(answers, examples)["micro_f1"]
    assert TASKS["multilabel"].trivial(rows) == pytest.approx(score)


def test_no_answer():
    examples, rows = dev("span-or-none", "questions-or-none/dev.json")
    answers = [{"answer": "", "best_answer": "x", "null_difference": 0.0}] * len(examples)
    score = TASKS["span-or-none"].score(answers, examples)["f1"]
    assert TASKS["span-or-none"].trivial(rows) == pytest.approx(score)


def test_one_of_four_and_nothing():
    assert TASKS["choice"].trivial(dev("choice", "choices/dev.csv")[1]) == 0.25
    assert TASKS["tagging"].trivial(dev("tagging", "entities/dev.txt")[1]) is None
    assert TASKS["classification"].trivial([]) is None
