"""Training batches of a task's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

import torch

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import TaskBatch
from minibert.tasks import Features, Task
from minibert.tokenizer import Tokenizer

LENGTH_WINDOW = 50  # batches, as in transformers


def training_batches(
    task: Task,
    features: Sequence[Features],
    settings: FinetuneSettings,
    tokenizer: Tokenizer,
    beside: Iterator[TaskBatch] | None = None,
) -> Iterator[TaskBatch]:
    """Batches in a new random order each epoch. beside: batches without labels, one is attached to each."""
    order = torch.Generator().manual_seed(settings.seed)
    noise = torch.Generator().manual_seed(settings.seed)
    vocab = MaskVocabulary.of(tokenizer) if settings.mlm_weight else None
    for _ in range(settings.epochs):
        shuffled = torch.randperm(len(features), generator=order).tolist()
        groups = [shuffled[i : i + settings.batch_size] for i in range(0, len(shuffled), settings.batch_size)]
        if settings.group_by_length:
            groups = grouped_by_length(groups, [row.length for row in features], order)
        for group in groups:
            batch = replace(task.batch([features[j] for j in group], tokenizer.pad_id), rows=torch.tensor(group))
            batch = batch if vocab is None else masked(batch, vocab, tokenizer, noise)
            yield batch if beside is None else replace(batch, unlabelled=next(beside))


def grouped_by_length(groups: list[list[int]], lengths: Sequence[int], rng: torch.Generator) -> list[list[int]]:
    """Sort the rows of every LENGTH_WINDOW batches by length into new batches, which come in random order.

    Not over all batches, so that the rows that share a batch still differ from epoch to epoch.
    """
    result = []
    for start in range(0, len(groups), LENGTH_WINDOW):
        window = groups[start : start + LENGTH_WINDOW]
        rows = iter(sorted(chain.from_iterable(window), key=lambda row: lengths[row]))
        dealt = [list(islice(rows, len(group))) for group in window]
        result += [dealt[i] for i in torch.randperm(len(dealt), generator=rng).tolist()]
    return result


def masked(batch: TaskBatch, vocab: MaskVocabulary, tokenizer: Tokenizer, rng: torch.Generator) -> TaskBatch:
    """The batch with a copy of its texts, masked as in pre-training."""
    ids = batch.ids.view(-1, batch.ids.size(-1))
    special = torch.isin(ids, torch.tensor(sorted(tokenizer.special_ids)))
    hidden, labels = mask_tokens(ids, special, vocab, rng)
    return replace(batch, masked=hidden.view_as(batch.ids), masked_labels=labels.view_as(batch.ids))
