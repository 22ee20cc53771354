"""ERNIE 2.0 (Sun et al. 2020, arXiv:1907.12412): many pre-training tasks. A fourth embedding identifies the task, and a
new task is learned together with the earlier ones: continual multi-task learning (§3).

The network is ERNIE's with a task embedding in its input; each task has a head of its own, each batch one task.
`minibert.relatives.ernie2` defines the model that is saved and loaded, and its pre-training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import (
    IGNORE,
    Batch,
    Bert,
    BertForPreTraining,
    Components,
    Embeddings,
    MlmHead,
    PreTrainingOutput,
    Tap,
    initialize,
    no_tap,
)
from minibert.objectives import targets_of
from minibert.training.cross_entropy import cross_entropy

REGIMES = ("continual", "one_by_one", "together")
WORDS, ORDER = 0, 1  # tasks of `TaskedLm`; the default is the first
KEPT_UP = 0.2  # share of a task's steps in each stage after its first


@dataclass(frozen=True, kw_only=True)
class TaskedBatch(Batch):
    """tasks: (B,) the number of the task, the same for all rows · labels: (B, T) in a task of masked tokens, else
    (B,) classes."""

    tasks: Tensor


@dataclass(frozen=True)
class TaskOutput:
    """logits: (M, V) at the masked tokens, labels: (M,); or (B, classes) and (B,)."""

    logits: Tensor
    loss: Tensor
    labels: Tensor

    @property
    def right(self) -> float:
        """The accuracy; computed only on access, not at every step."""
        return (self.logits.argmax(-1) == self.labels).double().mean().item()


class TaskEmbeddings(Embeddings):
    """token + segment + position + task; the first task's vector, unless a tap replaces it (`task_tap`)."""

    def __init__(self, config) -> None:
        super().__init__(config)
        self.task = nn.Embedding(config.task_type_vocab_size, config.hidden_size)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        task = tap("task", self.task.weight[None, :1])  # (1, 1, H), or (B, 1, H)
        return super().forward(ids, segments, lambda name, x: tap(name, x + task if name == "sum" else x), positions)


def task_tap(bert: Bert, tasks: Tensor | None, tap: Tap = no_tap) -> Tap:
    """A tap that also puts in the embedding of each row's task. tasks: (B,), None for the first."""
    if tasks is None:
        return tap
    return lambda name, x: tap(name, bert.embeddings.task(tasks)[:, None] if name == "embeddings.task" else x)


def for_task(batch: Batch, task: int) -> TaskedBatch:
    """The batch with the number of its task, WORDS or ORDER, and without the labels of the other."""
    other = {"next_labels": None} if task == WORDS else {"labels": torch.full_like(batch.ids, IGNORE)}
    return TaskedBatch(**vars(batch) | other, tasks=torch.full((len(batch.ids),), task))


class TaskedLm(BertForPreTraining):
    """BERT with its two heads and a task embedding; each batch has the labels of one task."""

    def forward(self, batch: Batch, tap: Tap = no_tap) -> PreTrainingOutput:
        x, pooled = self.bert(batch, task_tap(self.bert, getattr(batch, "tasks", None), tap))
        return self.answer(x, pooled, batch, tap)


class Ernie2(nn.Module):
    """One network, a head for each task. classes: task → number of its classes, 0 for masked tokens · config: an
    `Ernie2Config` with as many tasks."""

    def __init__(self, config: BertConfig, components: Components, classes: Mapping[str, int]):
        super().__init__()
        self.config, self.names = config, tuple(classes)
        self.bert = Bert(config, components)
        self.mlm = MlmHead(config, self.bert.embeddings.token)
        self.heads = nn.ModuleDict({name: nn.Linear(config.hidden_size, n) for name, n in classes.items() if n})
        initialize(self.heads, config.initializer_range)

    def read(self, batch: TaskedBatch, tap: Tap = no_tap) -> tuple[Tensor, Tensor]:
        """→ hidden (B, T, H), pooled (B, H), with the task's vector in the sum of embeddings."""
        return self.bert(batch, task_tap(self.bert, batch.tasks, tap))

    def forward(self, batch: TaskedBatch, tap: Tap = no_tap) -> TaskOutput:
        x, pooled = self.read(batch, tap)
        name = self.names[int(batch.tasks[0])]
        mask, labels = targets_of(batch.labels)  # (B, T), (M,); or (B,) twice
        logits = self.heads[name](pooled) if name in self.heads else self.mlm(x[mask])  # (B, classes) or (M, V)
        return TaskOutput(logits, cross_entropy(logits, labels), labels)


def stages(regime: str, tasks: Sequence[str], steps: int) -> list[dict[str, int]]:
    """For each stage, the steps of each task. Each task has a share of 1 / len(tasks) of `steps` in every regime.

    "continual": a stage adds a task, and those before go on with KEPT_UP of their steps · "one_by_one": a stage has the
    new task alone · "together": one stage, all tasks.
    """
    if regime not in REGIMES:
        raise ValueError(f"the regime is one of {', '.join(REGIMES)}, not {regime!r}")
    each = steps // len(tasks)
    if regime == "together":
        return [dict.fromkeys(tasks, each)]
    if regime == "one_by_one":
        return [{task: each} for task in tasks]
    later = round(KEPT_UP * each)
    return [
        dict.fromkeys(tasks[:stage], later) | {new: each - later * (len(tasks) - 1 - stage)}
        for stage, new in enumerate(tasks)
    ]
