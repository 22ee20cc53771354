"""ERNIE 2.0 (Sun et al. 2020, arXiv:1907.12412): a task embedding, and each new task is learned together with the
earlier ones (§3); see `parts.continual_tasks`. In transformers it is an ERNIE with `use_task_id`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch

from minibert.config import BertConfig
from minibert.count import CostRow, Shape
from minibert.model import Batch
from minibert.objectives import PredictionStats
from minibert.relatives.base import Relative
from minibert.relatives.ernie import KnowledgeMasking
from minibert.relatives.parts.continual_tasks import ORDER, WORDS, TaskedLm, TaskEmbeddings, for_task

TASK = CostRow("embeddings.task", "embeddings", "N·H", after="embeddings.segment")


@dataclass(frozen=True)
class Ernie2Config(BertConfig):
    model_type: ClassVar[str] = "ernie2"
    task_type_vocab_size: int = 3  # number of task embeddings

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= (count := self.task_type_vocab_size) <= 2**16:
            raise ValueError(f"task_type_vocab_size must be from 2 to {2**16:,}, not {count}")

    def as_dict(self) -> dict:
        return super().as_dict() | {"model_type": "ernie", "use_task_id": True}

    @classmethod
    def from_dict(cls, values) -> Self:
        return super().from_dict({**values, "model_type": cls.model_type})


@dataclass(frozen=True)
class ContinualTasks(KnowledgeMasking):
    """Masked phrases and names; after `order_from` batches also the order of two segments, one task per batch.
    share: of masked-LM batches from then on. The paper has seven tasks, `minibert.toy.continual` four."""

    second: str | None = "sop"
    phrases_from: float = 0
    entities_from: float = 1_000
    order_from: float = 1_000
    share: float = 0.5
    begun: bool = False

    model: ClassVar = TaskedLm

    def after(self, batches) -> Self:
        return replace(super().after(batches), begun=batches >= self.order_from)

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        if self.begun and torch.rand((), generator=rng) >= self.share:
            return for_task(batch, ORDER)
        return for_task(super().corrupt(batch, special, joined, vocabulary, rng), WORDS)

    def target_counts(self, batch) -> dict[str, int]:
        return {kind: count for kind, count in super().target_counts(batch).items() if count}

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        return {kind: stats for kind, stats in super().prediction_stats(output, batch).items() if stats.count}


RELATIVE = Relative(
    "ERNIE 2.0",
    Ernie2Config,
    prefix="Ernie",
    encoder="ernie",
    about="each token is also told which of {task_type_vocab_size} questions is asked; they were learned one by one",
    components={"embeddings": TaskEmbeddings},
    objective=ContinualTasks,
    heads={"ForPreTraining": TaskedLm},
    shape=lambda c: Shape(c, objective="mlm+sop", own=(TASK,), own_letters=(("N", c.task_type_vocab_size),)),
    names=((r"\bembeddings\.task\b", "embeddings.task_type_embeddings"),),
)
