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
    """A learner before its first step, on the CPU, and what builds its inputs. auxiliary: the values of each auxiliary
    column. Not to be shared between threads."""

    learner: Learner
    predictor: Predictor
    auxiliary: dict[str, list[str]]

    @classmethod
    def of(cls, start: str | Path, task: str, data: TaskData, settings: FinetuneSettings) -> FreshLearner:
        """Built as `finetune` builds it from the same arguments."""
        torch.manual_seed(settings.seed)
        labels = task_named(task).labels(data)
        learner, predictor = build_learner(start, task_named(task), labels, data, data, settings)
        return cls(learner, predictor, auxiliary_values(data, settings.auxiliary))

    @property
    def tokenizer(self) -> Tokenizer:
        return self.predictor.tokenizer

    def batch(self, example: Any) -> TrainingBatch:
        features = self.predictor.features([example])
        if self.auxiliary:
            labels = auxiliary_labels(example.extra, self.auxiliary)
            features = [replace(row, auxiliary=labels) for row in features]
        return training_batch(self.predictor.task, features, self.tokenizer.pad_id)


@torch.no_grad()
def dropout_losses(bench: FreshLearner, example: Any, masks: int, seed: int = 0) -> list[float]:
    """The loss of one example of a classification task under each of `masks` dropout masks of the new layer, without
    BERT's own dropout: a step with `dropout_samples` = k takes the mean of k of them (Inoue 2019)."""
    model: Any = bench.learner.model.eval()
    batch: Any = bench.batch(example)
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
    return probability_of_label(bench.learner.model, bench.batch(example))


@torch.no_grad()
def probability_of_label(model: nn.Module, batch: Any) -> float:
    """The probability of the label of a batch of one example."""
    return model.eval()(batch).logits.softmax(-1)[0, batch.labels[0]].item()


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
    batch, rng = bench.batch(example), torch.Generator().manual_seed(seed)
    text: Any = masked(batch, MaskVocabulary.of(bench.tokenizer), bench.tokenizer, rng)
    terms = {name: loss.item() for name, loss in bench.learner.eval()(replace(batch, masked=text)).items()}
    if "mlm_loss" not in terms:
        raise ValueError("there is no MLM loss: give the settings an mlm_weight above 0")
    vocab = bench.tokenizer.vocab
    return LossTerms(
        [vocab[i] for i in text.ids[0].tolist()],
        {position: vocab[label] for position, label in enumerate(text.labels[0].tolist()) if label != IGNORE},
        terms["loss"],
        terms["task_loss"],
        terms["mlm_loss"],
        terms.get("auxiliary_loss"),
    )


@torch.no_grad()
def averaging_weights(share: float, steps: int) -> list[float]:
    """The share of the weights after each step in their running mean after the last step; the shares add up to 1."""
    one_hot = nn.Linear(steps, 1, bias=False)  # its weights after step i are one-hot at i
    mean: Any = running_mean(one_hot, share)
    for row in torch.eye(steps):
        one_hot.weight.copy_(row[None])
        mean.update_parameters(one_hot)
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
    probabilities: dict[float, list[float]] = {share: [] for share in models}
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
                probabilities[share].append(probability_of_label(model, batch))
    return probabilities
