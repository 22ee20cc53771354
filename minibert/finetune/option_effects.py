"""The effect of a fine-tuning option on one example, in the numbers that training computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import nn

from minibert.corruption import MaskVocabulary
from minibert.finetune.auxiliary import auxiliary_labels, auxiliary_values
from minibert.finetune.batches import TrainingBatch, masked, training_batch, training_batches
from minibert.finetune.learner import Learner
from minibert.finetune.optimizer import finetuning_optimizer
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import build_learner
from minibert.finetune.settings import FinetuneSettings
from minibert.model import IGNORE
from minibert.tasks import TaskData, task_named
from minibert.tokenizer import Tokenizer
from minibert.train import Step, TrainingState, train
from minibert.training.averaging import running_mean


@dataclass
class FreshLearner:
    """A learner before its first step, on the CPU, and what builds its inputs. Not to be shared between threads."""

    learner: Learner
    predictor: Predictor
    marks: dict[str, list[str]]

    @classmethod
    def of(cls, start: str | Path, task: str, data: TaskData, settings: FinetuneSettings) -> FreshLearner:
        """Built as `finetune` builds it from the same arguments."""
        torch.manual_seed(settings.seed)
        chosen = task_named(task)
        learner, predictor = build_learner(start, chosen, chosen.labels(data), data, data, settings)
        return cls(learner, predictor, auxiliary_values(data, settings.auxiliary))

    @property
    def tokenizer(self) -> Tokenizer:
        return self.predictor.tokenizer

    def batch(self, *examples: Any) -> TrainingBatch:
        features = self.predictor.features(examples)
        if self.marks:
            features = [
                replace(row, auxiliary=auxiliary_labels(examples[row.example].extra, self.marks)) for row in features
            ]
        return training_batch(self.predictor.task, features, self.tokenizer.pad_id)


@torch.no_grad()
def dropout_losses(bench: FreshLearner, example: Any, masks: int, seed: int = 0) -> list[float]:
    """The loss of one example of a classification task under each of `masks` dropout masks of the new layer, without
    BERT's own dropout: a step with `dropout_samples` = k takes the mean of k of them (Inoue 2019)."""
    model, batch = bench.learner.model.eval(), bench.batch(example)
    _, pooled = model.read(batch)  # (1, width)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model.dropout.train()
        logits = torch.stack([model.classifier(model.dropout(pooled)) for _ in range(masks)])  # (masks, 1, classes)
        model.dropout.eval()
    losses = torch.nn.functional.cross_entropy(logits[:, 0], batch.labels.expand(masks), reduction="none")
    return losses.tolist()


@torch.no_grad()
def label_probability(bench: FreshLearner, example: Any) -> float:
    """The probability of the example's label from the untrained classifier, without dropout."""
    batch = bench.batch(example)
    return bench.learner.model.eval()(batch).logits.softmax(-1)[0, batch.labels[0]].item()


def group_means(values: Sequence[float], size: int) -> list[float]:
    """Means of consecutive groups of `size` values; an incomplete last group is left out."""
    return [sum(values[i : i + size]) / size for i in range(0, len(values) - size + 1, size)]


@dataclass(frozen=True)
class LossTerms:
    """tokens: of the masked text, as the MLM loss reads it · targets: masked position → original token · loss = task +
    weight · mlm, and + auxiliary_weight · auxiliary if there are auxiliary columns."""

    tokens: list[str]
    targets: dict[int, str]
    loss: float
    task: float
    mlm: float
    auxiliary: float | None = None


@torch.no_grad()
def loss_terms(bench: FreshLearner, example: Any, seed: int = 0) -> LossTerms:
    """The terms of one example's loss, without dropout. The bench needs settings with an `mlm_weight`."""
    vocab, rng = MaskVocabulary.of(bench.tokenizer), torch.Generator().manual_seed(seed)
    batch = bench.batch(example)
    text = masked(batch, vocab, bench.tokenizer, rng)
    terms = bench.learner.eval()(replace(batch, masked=text))
    if "mlm_loss" not in terms:
        raise ValueError("there is no MLM loss: give the settings an mlm_weight above 0")
    labels = text.labels[0].tolist()
    names = bench.tokenizer.vocab
    return LossTerms(
        [names[i] for i in text.ids[0].tolist()],
        {at: names[label] for at, label in enumerate(labels) if label != IGNORE},
        terms["loss"].item(),
        terms["task_loss"].item(),
        terms["mlm_loss"].item(),
        terms["auxiliary_loss"].item() if "auxiliary_loss" in terms else None,
    )


@torch.no_grad()
def averaging_weights(share: float, steps: int) -> list[float]:
    """The share of the weights after each step in their running mean after the last step; the shares add up to 1."""
    marked = nn.Linear(steps, 1, bias=False)  # weights after step i are one-hot at i: entry i of the mean is its share
    mean = running_mean(marked, share)
    for after in torch.eye(steps):
        marked.weight.copy_(after[None])
        mean.update_parameters(marked)
    return mean.module.weight[0].tolist()


def mean_change(values: Sequence[float]) -> float:
    """Mean absolute difference of consecutive values."""
    return sum(abs(b - a) for a, b in pairwise(values)) / max(len(values) - 1, 1)


def probabilities_while_training(
    bench: FreshLearner, data: TaskData, example: Any, settings: FinetuneSettings, shares: Sequence[float]
) -> dict[float, list[float]]:
    """Train the bench on `data`, as `finetune` does → probability of the example's label after each step: under 0 with
    the current weights, under each of `shares` with their running mean. The label must be one of the data's."""
    means = {share: running_mean(bench.learner.model, share) for share in shares}
    models = {0: bench.learner.model, **{share: mean.module for share, mean in means.items()}}
    found: dict[float, list[float]] = {share: [] for share in models}
    features = bench.predictor.features(data.examples)
    batch = bench.batch(example)
    events = train(
        bench.learner,
        training_batches(bench.predictor.task, features, settings, bench.tokenizer),
        settings.optimization,
        steps=settings.epochs * -(-len(features) // settings.batch_size),
        losses_of=lambda losses, part, whole: losses,
        state=TrainingState(finetuning_optimizer(bench.learner, settings)),
    )
    for event in events:
        if isinstance(event, Step):
            for mean in means.values():
                mean.update_parameters(bench.learner.model)
            for share, model in models.items():
                with torch.no_grad():
                    found[share].append(model.eval()(batch).logits.softmax(-1)[0, batch.labels[0]].item())
    return found
