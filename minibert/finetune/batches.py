"""Training batches of a task's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import torch

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import TaskBatch
from minibert.model import Batch
from minibert.tasks import Features, Task
from minibert.tokenizer import Tokenizer

LENGTH_WINDOW = 50  # batches, as in transformers


@dataclass(frozen=True)
class TrainingBatch(TaskBatch):
    """A task's batch, and what further losses read; None where there is no such loss. rows: (B,), index of each row in
    the training data · auxiliary: (B, columns), the auxiliary labels · masked: a `Batch` of the same texts for an MLM
    loss, (B·C, T) where there are choices · unlabelled: a `TrainingBatch` without labels · soft: (B, labels), other
    models' probabilities for the rows."""

    rows: Any = None
    auxiliary: Any = None
    masked: Any = None
    unlabelled: Any = None
    soft: Any = None

    def to(self, device: torch.device) -> TrainingBatch:
        return replace(self, **{name: x.to(device) for name, x in vars(self).items() if x is not None})


def training_batch(task: Task, features: Sequence[Features], pad_id: int, **further: Any) -> TrainingBatch:
    """The rows as a batch. further: other fields of `TrainingBatch`."""
    auxiliary = torch.tensor([row.auxiliary for row in features]) if features[0].auxiliary else None
    return TrainingBatch(**vars(task.batch(features, pad_id)), auxiliary=auxiliary, **further)


def training_batches(
    task: Task,
    features: Sequence[Features],
    settings: FinetuneSettings,
    tokenizer: Tokenizer,
    further_batches: Iterator[TrainingBatch] | None = None,
) -> Iterator[TrainingBatch]:
    """Batches in a new random order each epoch. further_batches: without labels; one is attached to each."""
    order, noise = (torch.Generator().manual_seed(settings.seed) for _ in range(2))
    vocab = MaskVocabulary.of(tokenizer) if settings.mlm_weight else None
    for _ in range(settings.epochs):
        shuffled = torch.randperm(len(features), generator=order).tolist()
        groups = [shuffled[i : i + settings.batch_size] for i in range(0, len(shuffled), settings.batch_size)]
        if settings.group_by_length:
            groups = grouped_by_length(groups, [row.length for row in features], order)
        for group in groups:
            batch = training_batch(task, [features[j] for j in group], tokenizer.pad_id, rows=torch.tensor(group))
            if vocab is not None:
                batch = replace(batch, masked=masked(batch, vocab, tokenizer, noise))
            yield batch if further_batches is None else replace(batch, unlabelled=next(further_batches))


def grouped_by_length(groups: list[list[int]], lengths: Sequence[int], rng: torch.Generator) -> list[list[int]]:
    """Sort the rows of every LENGTH_WINDOW batches by length into new batches, in random order; not those of all
    batches, so that the rows that share a batch differ from epoch to epoch."""
    result = []
    for start in range(0, len(groups), LENGTH_WINDOW):
        window = groups[start : start + LENGTH_WINDOW]
        rows = iter(sorted(chain.from_iterable(window), key=lambda row: lengths[row]))
        batches = [list(islice(rows, len(group))) for group in window]
        result += [batches[i] for i in torch.randperm(len(batches), generator=rng).tolist()]
    return result


def masked(batch: TaskBatch, vocab: MaskVocabulary, tokenizer: Tokenizer, rng: torch.Generator) -> Batch:
    """The batch's texts, masked as in pre-training; choices, (B, C, T), are B·C texts of T tokens."""
    segments, padding = (None if x is None else x.flatten(0, -2) for x in (batch.segments, batch.padding))
    ids = batch.ids.flatten(0, -2)
    special = torch.isin(ids, torch.tensor(sorted(tokenizer.special_ids)))
    ids, labels = mask_tokens(ids, special, vocab, rng)
    return Batch(ids, segments, padding, labels)
