"""The downstream tasks: files in the field's formats → examples as ids, and their metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from minibert.model import IGNORE
from minibert.tasks.tagging import entity_scores
from minibert.text.documents import DataError
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class Encoded:
    """One example: ids and segments of the whole input, and its class, or a class for each id (−100: not asked)."""

    ids: list[int]
    segments: list[int]
    target: int | list[int]


@dataclass(frozen=True)
class Task:
    """A task to fine-tune on. read(directory, part, tokenizer, max_length) → examples, part "train" or "dev";
    score(predicted, truth) → the metric. frozen: only the new layers learn, over features from a BiLSTM (§5.3)."""

    name: str
    title: str
    metric: str
    classes: tuple[str, ...]
    read: Callable[[Path, str, Tokenizer, int], list[Encoded]]
    score: Callable[[Sequence, Sequence], float]
    per_token: bool = False
    frozen: bool = False


def accuracy(predicted: Sequence[int], truth: Sequence[int]) -> float:
    return float(np.mean(np.asarray(predicted) == np.asarray(truth)))


def cells(path: Path, columns: int) -> list[list[str]]:
    """The lines after the header, cut at tabs; quotes are characters like others. Raises DataError naming the line."""
    rows = []
    for number, line in enumerate(lines_of(path)[1:], 2):
        row = line.split("\t")
        if len(row) != columns:
            raise DataError(f"{path}, line {number}: {len(row)} columns where {columns} are expected")
        rows.append(row)
    return rows


def lines_of(path: Path) -> list[str]:
    if not path.is_file():
        raise DataError(f"{path} does not exist: --tasks names the folder that holds sst2, mrpc and conll2003")
    return path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")


def read_sst2(directory: Path, part: str, tokenizer: Tokenizer, max_length: int) -> list[Encoded]:
    rows = cells(directory / "sst2" / f"{part}.tsv", 2)
    texts = tokenizer.encode_bulk([text for text, _ in rows])
    return [joined([ids], int(label), tokenizer, max_length) for ids, (_, label) in zip(texts, rows, strict=True)]


def read_mrpc(directory: Path, part: str, tokenizer: Tokenizer, max_length: int) -> list[Encoded]:
    """The corpus has no dev set of its own; its test set is what is measured on."""
    rows = cells(directory / "mrpc" / ("train.tsv" if part == "train" else "test.tsv"), 5)
    first, second = (tokenizer.encode_bulk([row[column] for row in rows]) for column in (3, 4))
    return [joined([a, b], int(row[0]), tokenizer, max_length) for a, b, row in zip(first, second, rows, strict=True)]


def joined(texts: list[list[int]], target: int, tokenizer: Tokenizer, max_length: int) -> Encoded:
    """[CLS] a [SEP], or [CLS] a [SEP] b [SEP]; the longer text loses its end where there is too much."""
    texts = [list(text) for text in texts]
    while sum(map(len, texts)) > max_length - 1 - len(texts):
        max(texts, key=len).pop()
    ids, segments = [tokenizer.cls_id], [0]
    for segment, text in enumerate(texts):
        ids += [*text, tokenizer.sep_id]
        segments += [segment] * (len(text) + 1)
    return Encoded(ids, segments, target)


TAGS = ("O", "B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER")


def read_ner(directory: Path, part: str, tokenizer: Tokenizer, max_length: int) -> list[Encoded]:
    """CoNLL-2003: word, two columns more, tag; a blank line ends a sentence. A word's tag stands at its first piece."""
    path = directory / "conll2003" / ("eng.train" if part == "train" else "eng.testa")
    examples, words, tags = [], [], []

    def flush():
        if words:
            pieces = tokenizer.encode_bulk(words)
            ids, targets = [tokenizer.cls_id], [IGNORE]
            for word, tag in zip(pieces, tags, strict=True):
                if len(ids) + len(word) >= max_length:
                    break
                ids += word or [tokenizer.unk_id]
                targets += [TAGS.index(tag), *[IGNORE] * (len(word) - 1)]
            examples.append(Encoded([*ids, tokenizer.sep_id], [0] * (len(ids) + 1), [*targets, IGNORE]))
        words.clear()
        tags.clear()

    for number, line in enumerate(lines_of(path), 1):
        columns = line.split()
        if not columns or columns[0] == "-DOCSTART-":
            flush()
        elif len(columns) != 4 or columns[3] not in TAGS:
            raise DataError(f"{path}, line {number}: expected a word, two columns and a tag, found {line!r}")
        else:
            words.append(columns[0])
            tags.append(columns[3])
    flush()
    return examples


def score_ner(predicted: Sequence[Sequence[int]], truth: Sequence[Sequence[int]]) -> float:
    tags = ([[TAGS[i] for i in row] for row in rows] for rows in (truth, predicted))
    return entity_scores(*tags)["f1"]


NER = {"classes": TAGS, "read": read_ner, "score": score_ner, "per_token": True}
TASKS = {
    task.name: task
    for task in (
        Task("sst2", "SST-2", "accuracy", ("0", "1"), read_sst2, accuracy),
        Task("mrpc", "MRPC", "accuracy", ("0", "1"), read_mrpc, accuracy),
        Task("ner", "CoNLL-2003 NER", "entity F1", **NER),
        Task("ner_features", "CoNLL-2003 NER, frozen features", "entity F1", **NER, frozen=True),
    )
}
