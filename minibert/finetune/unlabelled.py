"""Learning from unlabelled texts besides labelled ones: by smoothness (VAT), or from other models' predictions (Schick
and Schütze 2021, §3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from minibert.finetune.batches import TrainingBatch, training_batch
from minibert.finetune.virtual_adversarial import smoothness_loss
from minibert.heads import HeadOutput, TaskHead
from minibert.tasks import Features, Task


@dataclass(frozen=True)
class Unlabelled:
    """examples: of the task, whose labels are ignored · soft: soft labels, for each example the probability of every
    label; or None."""

    examples: Sequence[Any]
    soft: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        if not len(self.examples):
            raise ValueError("there is no text without a label to learn from")
        if self.soft is not None and len(self.soft) != len(self.examples):
            raise ValueError(f"{len(self.soft)} answers to {len(self.examples)} texts without a label")


def endless_batches(
    task: Task, rows: Sequence[Features], soft: Sequence[Sequence[float]] | None, size: int, pad_id: int, seed: int
) -> Iterator[TrainingBatch]:
    """Endless batches of the rows without their targets; reshuffled each epoch."""
    rng = torch.Generator().manual_seed(seed)
    size = min(size, len(rows))
    while True:
        order = torch.randperm(len(rows), generator=rng).tolist()
        for start in range(0, len(rows) - size + 1, size):
            indices = order[start : start + size]
            probabilities = None if soft is None else torch.tensor([list(soft[rows[i].example]) for i in indices])
            yield training_batch(task, [replace(rows[i], target=None) for i in indices], pad_id, soft=probabilities)


class SoftLabelLoss(nn.Module):
    """Cross-entropy with the soft labels of the texts without labels."""

    name, weight = "soft_loss", 1.0

    def forward(self, model: TaskHead, batch: TrainingBatch, output: HeadOutput) -> Tensor:
        return nn.functional.cross_entropy(model(batch.unlabelled).logits, batch.unlabelled.soft)


class SmoothnessLoss(nn.Module):
    """Virtual adversarial training on the texts without labels; recorded with its factor."""

    name, weight = "vat_loss", 1.0

    def __init__(self, factor: float, epsilon: float):
        super().__init__()
        self.factor, self.epsilon = factor, epsilon

    def forward(self, model: TaskHead, batch: TrainingBatch, output: HeadOutput) -> Tensor:
        return self.factor * smoothness_loss(model, batch.unlabelled, self.epsilon)
