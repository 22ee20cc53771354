"""How far an optimizer moves each layer in a step: AdamW by the learning rate alone, LAMB in proportion to its norm."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import nn

from minibert.model import Batch
from minibert.objectives import Objective, losses
from minibert.train import Optimization, optimizer_for
from minibert.training.lamb import trust_ratio, update


@dataclass(frozen=True)
class LayerStep:
    """One matrix in one step. weight, step: ‖w‖ and ‖u‖, u being Adam's update with weight decay · ratio: LAMB's trust
    ratio ‖w‖/‖u‖ · adamw, lamb: how far either moves it, relative to ‖w‖, at the same learning rate."""

    name: str
    weight: float
    step: float
    ratio: float
    adamw: float
    lamb: float


def layer_steps(
    model: nn.Module, batches: Iterable[Batch], objective: Objective, optimization: Optimization
) -> list[LayerStep]:
    """Train a copy of `model` on the batches with AdamW, and measure what the last step does to each matrix."""
    learner = copy.deepcopy(model).train()
    optimizer = optimizer_for(learner, optimization)
    names = {weight: name for name, weight in learner.named_parameters()}
    before: dict[nn.Parameter, torch.Tensor] = {}
    for batch in batches:
        optimizer.zero_grad()
        losses(objective, learner(batch), batch, batch)["loss"].backward()
        before = {weight: weight.detach().clone() for weight in learner.parameters()}
        optimizer.step()
    rate, found = optimization.learning_rate, []
    for group in optimizer.param_groups:
        for weight in group["params"]:
            if weight.dim() < 2 or weight not in optimizer.state:
                continue
            step = update(optimizer.state[weight], before[weight], group)
            length, moved = float(before[weight].norm()), float((weight.detach() - before[weight]).norm())
            ratio = float(trust_ratio(before[weight], step))
            share = moved / length if length else 0.0
            lamb = rate * ratio * float(step.norm()) / length if length else 0.0
            found.append(LayerStep(names[weight], length, float(step.norm()), ratio, share, lamb))
    return found
