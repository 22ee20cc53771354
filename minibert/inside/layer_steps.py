"""How far an optimizer moves each layer in a step: AdamW by the rate alone, LAMB by a share of the layer's length."""

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
    """A matrix in the last of some steps. weight, step: ‖w‖ and ‖u‖, of Adam's step with weight decay · ratio: LAMB's,
    ‖w‖/‖u‖ · adamw, lamb: the share of its length by which either moves it, at the same learning rate."""

    name: str
    weight: float
    step: float
    ratio: float
    adamw: float
    lamb: float


def layer_steps(
    model: nn.Module, batches: Iterable[Batch], objective: Objective, optimization: Optimization
) -> list[LayerStep]:
    """A copy of `model` is trained on the batches with AdamW; of the last step, what it does to each matrix."""
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
