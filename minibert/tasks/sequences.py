"""Tasks with one answer for the whole input: [CLS] one text [SEP], or [CLS] a [SEP] b [SEP]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from minibert.tasks.base import Task
from minibert.tasks.data import TaskDataError
from minibert.tasks.features import Features
from minibert.tasks.input_rows import InputRow, row_of
from minibert.tasks.metadata import metadata_numbers, metadata_prefix, texts_read
from minibert.tasks.options import Options
from minibert.tasks.tables import Source, header_of, rows_of
from minibert.text.truncation import keep
from minibert.tokenizer import Tokenizer


class SequenceTask(Task):
    """An example has one text or two, under the names in `given_texts`."""

    given_texts: ClassVar[tuple[str, ...]] = ("text", "pair")
    architecture = "BertForSequenceClassification"
    problem = "single_label_classification"
    pooled = True
    two_texts = True
    reads_texts = True

    def inputs(self, example: Any) -> tuple[str, ...]:
        return tuple(getattr(example, name) for name in self.given_texts)

    def texts_by_name(self, example: Any) -> dict[str, str]:
        """To be part of a prediction."""
        return {name: getattr(example, name) for name in self.given_texts}

    def target(self, example: Any, labels: Sequence[str]) -> Any:
        """The loss's target; None for an example without an answer, or with one that the model does not have."""
        return labels.index(example.label) if example.label in labels else None

    def features(self, tokenizer, examples, labels, options) -> list[Features]:
        texts = [(*self.inputs(example), *texts_read(example.extra, options)) for example in examples]
        rows = encode_texts(tokenizer, texts, examples, options)
        return [
            Features(i, ids, segments, self.target(example, labels), metadata_numbers(example.extra, options))
            for i, (example, (ids, segments)) in enumerate(zip(examples, rows, strict=True))
        ]

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        (features,) = self.features(tokenizer, [example], labels, options)
        texts = (*self.inputs(example), *texts_read(example.extra, options))
        row = text_row(tokenizer, texts, features.ids, options)
        if options.pooling == "cls":
            row = replace(row, targets=(self.target_word(example), *row.targets[1:]))
        return [row]

    def target_word(self, example: Any) -> str:
        """The target for display; "" if it is unknown or more than one."""
        return example.label or ""

    def texts(self, example) -> list[str | tuple[str, ...]]:
        return list(self.inputs(example))

    def with_texts(self, example, texts, origins) -> Any:
        return replace(example, **dict(zip(self.given_texts, texts, strict=True)))


def class_examples(example_type: type, texts: Sequence[str], rows, at, source: Source, header, width: int) -> list:
    """The examples in the lines of a table, without those of unknown labels and those on which the annotators did not
    agree (SNLI's "-"). texts: the fields beside "label", in the order of the example's; others: see `rows_of`."""
    rows, place = list(rows), at["label"]
    labels = {cells[place].strip().lower() for _, cells in rows if len(cells) > place}
    inference = "entailment" in labels or (bool(header) and header_of(header)[place] == "gold_label")
    examples = []
    for row in rows_of(rows, at, source, header, width):
        label = row.cells["label"]
        if label == "-" and inference:
            source.pass_over(row.line, place + 1, "the label is '-': its annotators did not agree; passed over")
        elif source.known(label, row.line, place + 1):
            examples.append(example_type(*(row.cells[name] for name in texts), label, row.extra))
    return examples


class ClassTask(SequenceTask):
    """One class for the whole input."""

    metric = "accuracy"
    closed = True
    losses: ClassVar[tuple[str, ...]] = ("class_weights", "focal", "label_smoothing")

    def loss_weights(self, data, labels) -> tuple[float, ...]:
        return balanced([data.counts[label] for label in labels])

    def answerable(self, labels) -> list[str]:
        return list(labels)

    def check(self, data) -> None:
        if data.declared is None and len(data.labels) == 1:
            raise TaskDataError(
                f"{data.name}: all {len(data.examples)} examples have the label {data.labels[0]!r}; "
                "there is nothing to tell apart"
            )

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        answers = class_answers(outputs, labels)
        return [{**self.texts_by_name(example), **answer} for example, answer in zip(examples, answers, strict=True)]

    def plain(self, answer) -> str:
        texts = " | ".join(answer[name] for name in self.given_texts)
        return f"{answer['label']}  {answer['probabilities'][answer['label']]:.3f}  {texts}"

    def score(self, predictions, examples) -> dict[str, float]:
        """Accuracy and macro F1 as scikit-learn counts them, and what `more_scores` adds."""
        from sklearn.metrics import accuracy_score, f1_score

        truth, answers = [example.label for example in examples], [answer["label"] for answer in predictions]
        labels = sorted({*truth, *(label for answer in predictions for label in answer["probabilities"])})
        return {
            "accuracy": float(accuracy_score(truth, answers)),
            "macro_f1": float(f1_score(truth, answers, labels=labels, average="macro", zero_division=0.0)),
            **self.more_scores(truth, answers, labels),
        }

    def more_scores(self, truth: list[str], answers: list[str], labels: list[str]) -> dict[str, float]:
        """Metrics of this task alone. labels: all that occur in truth or answers or that the model has."""
        return {}

    def grade(self, prediction, example) -> float:
        return float(prediction["label"] == example.label)

    def details(self, predictions, examples, labels) -> dict:
        """The confusion matrix, (classes, classes): rows are the truth, columns the predictions."""
        from sklearn.metrics import confusion_matrix

        truth, answers = [example.label for example in examples], [answer["label"] for answer in predictions]
        return {"confusion": confusion_matrix(truth, answers, labels=list(labels)).tolist()}

    def trivial(self, examples) -> float | None:
        """Accuracy of always predicting the commonest class."""
        return max(Counter(one["label"] for one in examples).values()) / len(examples) if examples else None


def encode_texts(
    tokenizer: Tokenizer, texts: Sequence[Sequence[str]], examples: Sequence, options: Options
) -> list[tuple[list[int], list[int]]]:
    """(ids, segments) of each input, truncated as the options say; metadata tokens are never cut."""
    bulk = iter(tokenizer.encode_bulk([text for row in texts for text in row]))
    pieces = [[next(bulk) for _ in row] for row in texts]
    prefixes = tokenizer.encode_bulk([metadata_prefix(example.extra, options) for example in examples])
    return [assembled(tokenizer, row, options, prefix) for row, prefix in zip(pieces, prefixes, strict=True)]


def assembled(
    tokenizer: Tokenizer, texts: Sequence[list[int]], options: Options, prefix: Sequence[int] = ()
) -> tuple[list[int], list[int]]:
    """[CLS] prefix a [SEP], or [CLS] prefix a [SEP] b [SEP] …, truncated → (ids, segments): BERT has only two segments,
    so all texts after the first are in the second."""
    room = options.max_length - 1 - len(texts) - len(prefix)
    if room < 0:
        raise ValueError(f"max_length {options.max_length} has no room for the special tokens")
    kept_places = keep([len(text) for text in texts], room, options.truncation, options.budgets)
    ids, segments = [tokenizer.cls_id, *prefix], [0] * (1 + len(prefix))
    for segment, (text, stay) in enumerate(zip(texts, kept_places, strict=True)):
        ids += [*(text[i] for i in stay), tokenizer.sep_id]
        segments += [min(segment, 1)] * (len(stay) + 1)
    return ids, segments


def text_row(tokenizer: Tokenizer, texts: Sequence[str], read: Sequence[int], options: Options) -> InputRow:
    """A row for display, with what was cut from its texts. read: the row's ids, metadata tokens included."""
    pieces = tokenizer.encode_bulk(list(texts))
    for prefix in range(len(read)):  # find how many metadata tokens follow [CLS]: the row must come out equal
        front = read[1 : 1 + prefix]
        if assembled(tokenizer, pieces, options, front)[0] == list(read):
            break
    room = options.max_length - 1 - len(texts) - prefix
    kept_places = keep([len(text) for text in pieces], room, options.truncation, options.budgets)
    ids, segments, cut = [tokenizer.cls_id, *front], [0] * (1 + prefix), [False] * (1 + prefix)
    for segment, (text, stay) in enumerate(zip(pieces, map(set, kept_places), strict=True)):
        ids += [*text, tokenizer.sep_id]
        segments += [min(segment, 1)] * (len(text) + 1)
        cut += [*(i not in stay for i in range(len(text))), False]
    return replace(row_of(tokenizer, ids, segments), cut=tuple(cut))


def softmax(logits: np.ndarray) -> np.ndarray:
    """Along the last axis, in float64."""
    shifted = np.exp(np.asarray(logits, dtype=np.float64) - np.max(logits, axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def class_answers(outputs: Sequence[dict], labels: Sequence[str]) -> list[dict]:
    """The likeliest label and the probability of each."""
    answers = []
    for output in outputs:
        probs = softmax(output["logits"]).tolist()
        best = max(range(len(probs)), key=probs.__getitem__)
        answers.append({"label": labels[best], "probabilities": dict(zip(labels, probs, strict=True))})
    return answers


def balanced(counts: Sequence[int]) -> tuple[float, ...]:
    """Weights that give every class the same total: n / (classes · count), scikit-learn's "balanced" (King and Zeng
    2001). A class without an example counts 1."""
    there = sum(count > 0 for count in counts)
    return tuple(sum(counts) / (there * count) if count else 1.0 for count in counts)
