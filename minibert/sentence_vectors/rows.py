"""Training and evaluation data of sentence vectors: rows of texts, their files, and the batches of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from minibert.model import Batch
from minibert.sentence_vectors.encoder import token_ids
from minibert.sentence_vectors.inference import inference_triples, is_inference_file, read_inference
from minibert.sentence_vectors.objectives import OBJECTIVES
from minibert.tasks import TASKS
from minibert.tasks.similarity import HIGHEST
from minibert.text.batches import Position, padded_batch
from minibert.text.documents import DataError, lines_of, read_documents, split_sentences
from minibert.tokenizer import Tokenizer

MIXED = "simcse-supervised"  # the objective whose rows may have a hard negative
FORMS = {1: "a text", 2: "two texts with a tab between", 3: "three texts with tabs between"}


@dataclass(frozen=True)
class SentenceRow:
    """texts: one, or those that are read together · target: a class (softmax) or a cosine (cosine), else None."""

    texts: tuple[str, ...]
    target: str | float | None = None


def read_rows(objective: str, path: str | Path) -> list[SentenceRow]:
    """The rows of a file for an objective. simcse: distinct sentences of a text file · softmax: as read by the task
    `pair` · cosine: as read by the task `similarity`, with score 5 as cosine 1 · the others: tab-separated texts, a row
    per line, or for supervised SimCSE NLI pairs, see `inference.inference_triples`. Raises ValueError for unusable
    lines, with the line, and the column if there are columns."""
    if objective == "simcse":
        lines = (line for document in read_documents([path]) for line in document)
        sentences = dict.fromkeys(sentence for line in lines for sentence in split_sentences(line))
        return [SentenceRow((sentence,)) for sentence in sentences]
    if objective == "softmax":
        labelled = TASKS["pair"].read(path, strict=True).examples
        return [SentenceRow((pair.text, pair.pair), pair.label) for pair in labelled]
    if objective == "cosine":
        scored = TASKS["similarity"].read(path, strict=True).examples
        return [SentenceRow((pair.text, pair.pair), pair.score / HIGHEST) for pair in scored]
    rows, lengths = [], OBJECTIVES[objective]
    for number, line in lines_of(Path(path)):
        if objective == MIXED and number == 1 and is_inference_file(line):
            return [SentenceRow(texts) for texts in inference_triples(read_inference(path))]
        texts = tuple(text.strip() for text in line.split("\t"))
        if not line.strip():
            continue
        if len(texts) not in lengths or not all(texts):
            raise DataError(f"{path}, line {number}: must be {' or '.join(FORMS[n] for n in lengths)}")
        rows.append(SentenceRow(texts))
    return rows


def check_rows(objective: str, rows: Sequence[SentenceRow]) -> None:
    """Raise ValueError if the objective cannot be trained on these rows."""
    if objective not in OBJECTIVES:
        raise ValueError(f"the objective must be one of {', '.join(OBJECTIVES)}, not {objective!r}")
    if len(rows) < 2:
        raise ValueError(f"{objective} learns by holding rows against each other: two are needed, not {len(rows)}")
    lengths = {len(row.texts) for row in rows}
    if (len(lengths) > 1 and objective != MIXED) or not lengths <= {*OBJECTIVES[objective]}:
        forms = " or ".join(FORMS[n] for n in OBJECTIVES[objective])
        if objective == MIXED:
            raise ValueError(f"every row of {objective} must be {forms}")
        raise ValueError(f"every row of {objective} must be {forms}, all of one form")
    if objective == "softmax" and len(classes_of(rows)) < 2:
        raise ValueError("softmax tells classes apart: the rows have only one")


def classes_of(rows: Sequence[SentenceRow]) -> list[str]:
    return sorted({str(row.target) for row in rows if row.target is not None})


def questions_of(path: str | Path) -> list[tuple[str, str]]:
    """(question, its standard question) of each line of a file, tab-separated. Raises DataError."""
    pairs = []
    for number, line in lines_of(Path(path)):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise DataError(f"{path}, line {number}: must be a question, a tab, its standard question")
        pairs.append((cells[0], cells[1]))
    return pairs


class VectorBatches:
    """Batches of `size` rows, epoch after epoch, shuffled: a function of seed and position, so that a stream started at
    another one's `position` continues with exactly the same batches. A batch holds first all first texts of its rows,
    then all second ones, then the third ones of rows that have one: (k·B, T) if all have. copies: of each text, for
    objectives that read it twice.

    An incomplete last batch of an epoch is left out, because a small batch has few negatives.
    """

    def __init__(
        self,
        rows: Sequence[SentenceRow],
        tokenizer: Tokenizer,
        size: int,
        longest: int,
        seed: int,
        copies: int = 1,
        position: Position | None = None,
    ):
        self.size, self.seed, self.copies = min(size, len(rows)), seed, copies
        self.tokenizer, self.position = tokenizer, position or Position()
        self.columns: list[dict[int, list[int]]] = []  # first, second, third texts: row → ids
        for k in range(max(len(row.texts) for row in rows)):
            texts = {i: row.texts[k] for i, row in enumerate(rows) if len(row.texts) > k}
            self.columns.append(dict(zip(texts, token_ids(tokenizer, [*texts.values()], longest), strict=True)))
        classes = classes_of(rows)
        targets: list[Any] = [row.target for row in rows]
        if all(isinstance(target, str) for target in targets):
            targets = [classes.index(target) for target in targets]
        self.targets = None if None in targets else torch.tensor(targets)

    def __iter__(self) -> Iterator[Batch]:
        count = len(self.columns[0])
        while True:
            here = self.position
            order = np.random.default_rng([self.seed, here.epoch]).permutation(count)
            for number in range(here.batches, count // self.size):
                indices = order[number * self.size : (number + 1) * self.size].tolist()
                self.position = replace(self.position, batches=number + 1, given=self.position.given + 1)
                rows = [column[i] for column in self.columns for i in indices if i in column] * self.copies
                targets = None if self.targets is None else self.targets[indices]
                yield padded_batch(rows, self.tokenizer.pad_id, labels=targets)
            self.position = Position(self.position.epoch + 1, given=self.position.given)
