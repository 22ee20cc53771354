"""Auxiliary targets, predicted from the same text in addition to the task's (a comment's threat, insult … besides
toxic): a layer and a loss for each, dropped after training. Multi-task learning (Caruana 1997)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from minibert.finetune.batches import TrainingBatch
from minibert.heads import HeadOutput, TaskHead
from minibert.model import IGNORE, initialize
from minibert.tasks import Task, TaskData
from minibert.tasks.metadata import no_column
from minibert.training.cross_entropy import cross_entropy

MOST_VALUES = 200  # of an auxiliary column


def check_auxiliary(task: Task, columns: Sequence[str]) -> None:
    """Raise ValueError if there are columns, and the task's head does not classify one vector of the whole input."""
    if columns and task.architecture != "BertForSequenceClassification":
        raise ValueError(f"the task {task.name} learns nothing beside: it does not read one vector of the input")


def auxiliary_values(data: TaskData, columns: Sequence[str]) -> dict[str, list[str]]:
    """The values of each column, sorted. Raises ValueError for a missing column, or one with too few or many values."""
    values_of = {}
    for column in columns:
        values = {example.extra[column] for example in data.examples if example.extra.get(column)}
        if not values:
            raise ValueError(no_column(data, column, "to learn beside"))
        if not 2 <= len(values) <= MOST_VALUES:
            raise ValueError(f"column {column!r} has {len(values):,} values: from 2 to {MOST_VALUES} can be learned")
        values_of[column] = sorted(values)
    return values_of


def auxiliary_labels(extra: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    """The index of the example's value in each column; −100, which the loss ignores, if it has none."""
    return tuple(values.index(extra[name]) if extra.get(name) in values else IGNORE for name, values in columns.items())


class AuxiliaryLoss(nn.Module):
    """A linear layer for each column, on the same vector as the task's own."""

    name = "auxiliary_loss"

    def __init__(self, width: int, columns: Mapping[str, Sequence[str]], std: float, weight: float = 1.0):
        super().__init__()
        self.weight = weight
        self.layers = nn.ModuleList(nn.Linear(width, len(values)) for values in columns.values())
        initialize(self, std)

    def forward(self, model: TaskHead, batch: TrainingBatch, output: HeadOutput) -> Tensor:
        return self.mean_loss(model.dropout(output.vector), batch.auxiliary)

    def mean_loss(self, pooled: Tensor, labels: Tensor) -> Tensor:
        """The mean of the columns' losses. pooled: (B, width), labels: (B, columns)."""
        losses = [cross_entropy(layer(pooled).float(), labels[:, i]) for i, layer in enumerate(self.layers)]
        return torch.stack(losses).mean()
