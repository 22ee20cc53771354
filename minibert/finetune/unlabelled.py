"""Learning from unlabelled texts beside labelled ones: by smoothness (VAT), or from other models' answers to them
(Schick and Schütze 2021, §3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from minibert.heads import TaskBatch
from minibert.tasks.features import Features

if TYPE_CHECKING:
    from minibert.tasks.base import Task


@dataclass(frozen=True)
class Unlabelled:
    """examples: of the task, their labels are ignored · soft: for each example the probabilities of the labels, in
    their order; None without soft labels."""

    examples: Sequence[Any]
    soft: Sequence[Sequence[float]] | None = None

    def __post_init__(self):
        if not len(self.examples):
            raise ValueError("there is no text without a label to learn from")
        if self.soft is not None and len(self.soft) != len(self.examples):
            raise ValueError(f"{len(self.soft)} answers to {len(self.examples)} texts without a label")


def endless_batches(
    task: Task, rows: Sequence[Features], soft: Sequence[Sequence[float]] | None, size: int, pad_id: int, seed: int
) -> Iterator[TaskBatch]:
    """The rows without their targets, in batches, endlessly; reshuffled after each pass."""
    rng = torch.Generator().manual_seed(seed)
    size = min(size, len(rows))
    while True:
        order = torch.randperm(len(rows), generator=rng).tolist()
        for start in range(0, len(rows) - size + 1, size):
            chosen = order[start : start + size]
            batch = task.batch([replace(rows[i], target=None) for i in chosen], pad_id)
            yield (
                batch
                if soft is None
                else replace(batch, soft=torch.tensor([list(soft[rows[i].example]) for i in chosen]))
            )
