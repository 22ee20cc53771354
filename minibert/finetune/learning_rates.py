"""How far a step of fine-tuning moves a weight, over the run and in each layer; read from the optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from minibert.finetune.learner import Learner
from minibert.finetune.optimizer import depth, finetuning_groups, finetuning_optimizer
from minibert.finetune.settings import FinetuneSettings


def step_lengths(settings: FinetuneSettings, steps: int) -> list[float]:
    """How far each of `steps` steps moves a weight whose gradient is always 1, under the run's schedule.

    With bias correction that is the learning rate. Without it, it is the rate times (1 − β₁ᵗ)/√(1 − β₂ᵗ) at step t,
    whatever the gradients are (Kingma and Ba 2015, algorithm 1): 3.2 times at the first step, 6.6 times at the twelfth,
    3.2 times again at the hundredth.
    """
    learner: Any = OneWeight()
    optimizer = finetuning_optimizer(learner, settings)
    lengths = []
    for step in range(steps):
        lr = settings.optimization.rate_at((step + 0.5) / steps)  # as in train.train
        for group in optimizer.param_groups:
            group["lr"] = lr
        with torch.no_grad():
            learner.weight.zero_()
        learner.weight.grad = torch.ones_like(learner.weight)
        optimizer.step()
        lengths.append(-learner.weight.item())
    return lengths


class OneWeight(nn.Module):
    """A stand-in for the learner of `finetuning_optimizer`: one parameter, in double precision."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        self.model = SimpleNamespace(config=SimpleNamespace(num_hidden_layers=0))


@dataclass(frozen=True)
class LayerRate:
    """depth: 0 for the embeddings, i + 1 for block i, then the pooler and the new layers · rate: the peak learning
    rate, 0 if frozen · weights: number of parameters."""

    depth: int
    rate: float
    weights: int


def layer_rates(learner: Learner, settings: FinetuneSettings) -> list[LayerRate]:
    """One for each depth, from the embeddings up; rates from the groups that the optimizer is given."""
    top = learner.model.config.num_hidden_layers + 1
    peak = settings.optimization.learning_rate
    rates = {
        id(weight): peak * group["scale"]
        for group in finetuning_groups(learner, settings)
        for weight in group["params"]
    }
    counts, peaks = [0] * (top + 1), [0.0] * (top + 1)
    for name, weight in learner.named_parameters():
        level = depth(name, top)
        counts[level] += weight.numel()
        peaks[level] = max(peaks[level], rates.get(id(weight), 0.0))
    return [LayerRate(i, peaks[i], counts[i]) for i in range(top + 1)]
