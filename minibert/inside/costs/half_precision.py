"""What float16 loses, with real numbers: small updates of a weight, small gradients of a model, and what saves them:
weights in float32 and a loss that is scaled up (Micikevicius et al. 2018, "Mixed precision training", §3.1 and 3.2)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from minibert.model import Batch
from minibert.objectives import Objective, losses

SMALLEST = 2.0**-24  # the least number above zero that float16 has


def spacing(weight: float) -> float:
    """Distance from a weight to the next larger float16: adding less than half of it changes nothing."""
    here = torch.tensor(weight, dtype=torch.float16)
    return float(torch.nextafter(here, torch.tensor(torch.inf, dtype=torch.float16)).double() - here.double())


def repeated(weight: float, update: float, steps: int) -> tuple[list[float], list[float]]:
    """A weight after 0, 1, … steps that each add `update`: kept in float16, and kept in float32 and rounded to float16
    for each use (a master weight)."""
    half, master = torch.tensor(weight, dtype=torch.float16), torch.tensor(weight, dtype=torch.float32)
    in_half, in_float = [float(half)], [float(master.half())]
    for _ in range(steps):
        half = half + torch.tensor(update, dtype=torch.float16)
        master = master + update
        in_half.append(float(half))
        in_float.append(float(master.half()))
    return in_half, in_float


@dataclass(frozen=True)
class Lost:
    """Shares of the gradients that are not 0 in float32. scale: factor of the loss · zero: share that is 0 in float16 ·
    overflow: share beyond its range; the step must then be skipped."""

    scale: float
    zero: float
    overflow: float


def gradients(model: nn.Module, batch: Batch, objective: Objective, scale: float, dtype: torch.dtype) -> torch.Tensor:
    """Every weight's gradient of `scale` times the loss, forward and backward computed in `dtype`. → (parameters,)"""
    learner = copy.deepcopy(model).to(dtype).train()
    loss = losses(objective, learner(batch), batch, batch)["loss"]
    (loss.float() * scale).backward()
    parts = [weight.grad.flatten() for weight in learner.parameters() if weight.grad is not None]
    return torch.cat(parts).float()


def lost(model: nn.Module, batch: Batch, objective: Objective, scales: Sequence[float]) -> list[Lost]:
    """What float16 loses of a model's gradients for one batch, for each scale of the loss."""
    true = gradients(model, batch, objective, 1.0, torch.float32)
    there = true != 0
    results = []
    for scale in scales:
        half = gradients(model, batch, objective, scale, torch.float16)[there]
        infinite = ~half.isfinite()
        results.append(Lost(scale, float((half == 0).float().mean()), float(infinite.float().mean())))
    return results
