"""Multi-label classification, with a threshold for each label: GoEmotions."""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from minibert.tasks.data import TaskDataError
from minibert.tasks.guess import Sureness
from minibert.tasks.pairs import names_two_texts
from minibert.tasks.sequences import SequenceTask
from minibert.tasks.tables import (
    LABEL_COLUMNS,
    TEXT_COLUMNS,
    WHOLE,
    Source,
    column,
    decoded,
    header_of,
    rows_of,
    table,
    unnamed,
    with_header,
)
from minibert.text.json_values import JsonError, json_value

COLUMNS = {"text": TEXT_COLUMNS, "labels": ("emotions", *LABEL_COLUMNS)}
LABEL_NAMES = "labels.txt"  # names GoEmotions' numbers
OPENING, CLOSING = ("[", "{", "("), {"[": "]", "{": "}", "(": ")"}
# An item of a list: quoted, or bare words or a number; a comma or a space after it.
LIST_ITEM = re.compile(
    r"""\s*(?:('(?:[^'\\\n]|\\['"\\nt])*'|"(?:[^"\\\n]|\\['"\\nt])*")"""
    r"""|([^\s,'"\[\](){}]+(?:[ ]+[^\W\d][^\s,'"\[\](){}]*)*))\s*,?"""
)
NUMBERS = re.compile(r"\d+(,\d+)*")


@dataclass(frozen=True)
class LabelsExample:
    """One text with any number of labels; None if unknown."""

    text: str
    labels: tuple[str, ...] | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return self.labels or ()


def read_goemotions(source: Source) -> list[LabelsExample]:
    """GoEmotions: text, numbers of labels with commas between, id; no header. labels.txt beside it names them."""
    names = None
    if LABEL_NAMES in source.beside:
        lines = decoded(source.beside[LABEL_NAMES], LABEL_NAMES).splitlines()
        names = [line.strip() for line in lines if line.strip()]
        source.declared = source.declared or tuple(names)
    examples = []
    at = {"text": 0, "labels": 1}
    for row in rows_of(table(source.text, source.name, source), at, source, ["text", "labels", "id"], 3):
        numbers = row.cells["labels"].split(",")
        if not NUMBERS.fullmatch(row.cells["labels"]):
            source.problem(row.line, 2, f"{row.cells['labels']!r} are not label numbers with commas between")
        elif names is not None and (beyond := [number for number in numbers if int(number) >= len(names)]):
            source.problem(row.line, 2, f"label {beyond[0]}, but labels.txt names {len(names)}, from 0")
        else:
            labels = tuple(dict.fromkeys(numbers if names is None else (names[int(number)] for number in numbers)))
            if all(source.known(label, row.line, 2) for label in labels):
                examples.append(LabelsExample(row.cells["text"], labels, row.extra))
    return examples


def examples_of(rows, at: dict[str, int], source: Source, header: Sequence[str], width: int) -> list[LabelsExample]:
    """Labels are separated by commas or stand in a list, see `listed_labels`; an empty cell means no label. Where all
    are lists of as many 0 and 1, each place stands for a declared label."""
    examples, place = [], at["labels"] + 1
    found = [
        (row, listed_labels(row.cells["labels"]))
        for row in rows_of(rows, at, source, header, width, may_be_empty=("labels",))
    ]
    lists = [labels for row, labels in found if labels is not None and row.cells["labels"][:1] in OPENING]
    vectors = len(set(map(len, lists))) == 1 and all(len(one) > 1 and set(one) <= {"0", "1"} for one in lists)
    for row, labels in found:
        if labels is not None and (len(set(labels)) < len(labels) or vectors) and row.cells["labels"][:1] in OPENING:
            if set(labels) <= {"0", "1"} and len(source.declared or ()) == len(labels):
                labels = [name for name, value in zip(source.declared or (), labels, strict=True) if value == "1"]
            elif set(labels) <= {"0", "1"}:
                why = f"{row.cells['labels']!r} says which labels by their places: name all {len(labels)} (--labels)"
                source.problem(row.line, place, why)
                continue
        if labels is None:
            source.problem(row.line, place, f"{row.cells['labels']!r} is no list of labels")
        elif all(source.known(label, row.line, place) for label in labels):
            examples.append(LabelsExample(row.cells["text"], tuple(dict.fromkeys(labels)), row.extra))
    return examples


def listed_labels(cell: str) -> list[str] | None:
    """The labels in a cell: a, b · a list as Python, JSON or numpy writes it: ['a', 'b'], ["a", "b"], [0 1]. None if it
    begins like a list and is none."""
    if cell[:1] not in OPENING:
        return [label.strip() for label in cell.split(",") if label.strip()]
    try:
        values = json_value(cell)
    except JsonError:
        values = None
    if not isinstance(values, list):
        values, end = [], 1
        while item := LIST_ITEM.match(cell, end):
            quoted, bare = item.groups()
            values.append(literal_eval(quoted) if quoted else bare.strip())
            end = item.end()
        if cell[end:].strip() != CLOSING.get(cell[0]):
            return None
    if any(isinstance(one, list | dict) for one in values):
        return None
    labels = [str(int(one) if isinstance(one, bool) else one).strip() for one in values if one is not None]
    labels = [{"True": "1", "False": "0"}.get(label, WHOLE.sub(r"\1", label)) for label in labels]
    return [label for label in labels if label]


class Multilabel(SequenceTask):
    name = "multilabel"
    order = 40
    example_type = LabelsExample
    answer = "labels"
    metric = "micro_f1"
    companions = (LABEL_NAMES,)
    example_input: ClassVar = {"text": "I did not see that coming, and I love it!"}
    given_texts = ("text",)
    two_texts = False
    problem = "multi_label_classification"
    tune_on = "split"
    losses = ("class_weights", "focal", "label_smoothing")
    bulky = ("thresholds",)
    readers: ClassVar = {"header": with_header(COLUMNS, "labels", examples_of), "goemotions": read_goemotions}
    columns: ClassVar = COLUMNS

    def recognises(self, form) -> Sureness:
        if {"labels", "emotions"} & set(form.header) and not names_two_texts(form.header):
            return Sureness.HEADER
        numbered = unnamed(form.header, 3) and NUMBERS.fullmatch(form.header[1])
        return Sureness.COLUMNS if numbered else Sureness.NO

    def guess_format(self, text, name) -> str | None:
        _, first = next(table(text, name))
        if column(header_of(first), TEXT_COLUMNS) is None and len(first) == 3:
            return "goemotions"
        return "header"

    def answerable(self, labels) -> list[str]:
        return list(labels)

    def check(self, data) -> None:
        if not data.counts:
            raise TaskDataError(f"{data.name} has no label on any example: there is nothing to learn")

    def loss_weights(self, data, labels) -> tuple[float, ...]:
        answered = sum(not self.unanswered(example) for example in data.examples)
        return positive_weights([data.counts[label] for label in labels], answered)

    def target(self, example, labels) -> Any:
        return None if example.labels is None else [float(label in example.labels) for label in labels]

    def target_word(self, example) -> str:
        return ""

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        """Predict the labels whose probability, the sigmoid of the logit, reaches their threshold."""
        thresholds = options.thresholds or (0.5,) * len(labels)
        answers = []
        for example, output in zip(examples, outputs, strict=True):
            probs = 1 / (1 + np.exp(-output["logits"].astype(np.float64)))
            chosen = [label for label, p, least in zip(labels, probs, thresholds, strict=True) if p >= least]
            answers.append(
                {
                    **self.texts_by_name(example),
                    "labels": chosen,
                    "probabilities": dict(zip(labels, probs.tolist(), strict=True)),
                    "thresholds": dict(zip(labels, map(float, thresholds), strict=True)),
                }
            )
        return answers

    def plain(self, answer) -> str:
        return f"{', '.join(answer['labels']) or '–'}  {answer['text']}"

    def score(self, predictions, examples) -> dict[str, float]:
        """Micro and macro F1 over the labels, and the share of examples with exactly the right ones."""
        from sklearn.metrics import accuracy_score, f1_score

        names = sorted({*predictions[0]["probabilities"], *(mark for example in examples for mark in example.marks)})
        truth = indicators([example.marks for example in examples], names)
        answers = indicators([answer["labels"] for answer in predictions], names)
        return {
            "micro_f1": float(f1_score(truth, answers, average="micro", zero_division=0.0)),
            "macro_f1": float(f1_score(truth, answers, average="macro", zero_division=0.0)),
            "exact": float(accuracy_score(truth, answers)),
        }

    def grade(self, prediction, example) -> float:
        """Jaccard index of the predicted and the true labels; 1 if both are empty."""
        said, right = set(prediction["labels"]), set(example.marks)
        return len(said & right) / len(said | right) if said | right else 1.0

    def details(self, predictions, examples, labels) -> dict:
        """Precision, recall and F1 of each label, how often it occurs, and the threshold used."""
        from sklearn.metrics import precision_recall_fscore_support

        truth = indicators([example.marks for example in examples], labels)
        answers = indicators([answer["labels"] for answer in predictions], labels)
        table = precision_recall_fscore_support(truth, answers, zero_division=0.0)
        names = ("precision", "recall", "f1", "count")
        return {
            "by_label": {
                label: {
                    **{name: float(values[i]) for name, values in zip(names, table, strict=True)},
                    "threshold": predictions[0]["thresholds"][label],
                }
                for i, label in enumerate(labels)
            }
        }

    def trivial(self, examples) -> float | None:
        """Always predicting the commonest label: micro F1 = 2 · hits / (predictions + labels)."""
        labels = Counter(label for one in examples for label in one["labels"] or ())
        return 2 * max(labels.values(), default=0) / (len(examples) + labels.total()) if examples else None

    def tune(self, predictions, examples, labels) -> dict[str, Any]:
        """For each label the threshold with the best F1; 0.5 for one that does not occur here."""
        truth = indicators([example.marks for example in examples], labels)
        probs = np.array([[answer["probabilities"][label] for label in labels] for answer in predictions])
        return {"thresholds": tuple(best_threshold(probs[:, i], truth[:, i]) for i in range(len(labels)))}


def indicators(rows: Sequence[Sequence[str]], labels: Sequence[str]) -> np.ndarray:
    """(examples, labels), 1 where the label is given."""
    return np.array([[int(label in row) for label in labels] for row in rows]).reshape(len(rows), len(labels))


def best_threshold(probs: np.ndarray, truth: np.ndarray) -> float:
    """The threshold that maximises F1 = 2·hits / (answers + positives): halfway between two neighbouring scores."""
    if not truth.any():
        return 0.5
    order = np.argsort(-probs, kind="stable")
    ranked, hits = probs[order], np.cumsum(truth[order])
    f1 = 2 * hits / (np.arange(1, len(probs) + 1) + truth.sum())
    possible = np.append(ranked[:-1] > ranked[1:], True)  # no threshold separates equal scores
    best = int(np.argmax(np.where(possible, f1, -1.0)))
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + below) / 2)


def positive_weights(counts: Sequence[int], examples: int) -> tuple[float, ...]:
    """For each label, negative examples per positive one; at least 1 / count, and 1 for a label without examples."""
    return tuple(max(examples - count, 1) / count if count else 1.0 for count in counts)
