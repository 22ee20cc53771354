"""LAMB (You et al. 2019, arXiv:1904.00962, algorithm 2): Adam's step, its length adapted to each layer.

With large batches a run has few steps, so each must be long; how long a step a layer tolerates depends on the size of
its weights. LAMB scales Adam's step u of each matrix by the *trust ratio* ‖w‖ / ‖u‖: every matrix then moves by the
same fraction of its own norm, the learning rate.
"""

from __future__ import annotations

import torch
from torch import Tensor


class Lamb(torch.optim.AdamW):
    """AdamW's moments and groups; weight decay is part of the step that is scaled, as in the paper. Biases and
    LayerNorm weights are neither decayed nor scaled, as in the authors' code."""

    @torch.no_grad()
    def step(self, closure=None) -> None:  # type: ignore[override]  # without a closure
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self.move(weight, group)

    def move(self, weight: Tensor, group: dict) -> None:
        state, (beta1, beta2) = self.state[weight], group["betas"]
        if not state:  # AdamW's names, so that it loads and saves them
            state["step"] = torch.zeros((), device=weight.device)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
        state["step"] += 1
        state["exp_avg"].lerp_(weight.grad, 1 - beta1)  # m
        state["exp_avg_sq"].mul_(beta2).addcmul_(weight.grad, weight.grad, value=1 - beta2)  # v
        step = update(state, weight, group)
        if weight.dim() >= 2:
            step = trust_ratio(weight, step) * step
        weight.sub_(step, alpha=group["lr"])


def update(state: dict[str, Tensor], weight: Tensor, group: dict) -> Tensor:
    """u = m̂ / (√v̂ + ε) + λw, from AdamW's or LAMB's state of a weight."""
    beta1, beta2 = group["betas"]
    m = state["exp_avg"] / (1 - beta1 ** state["step"])
    v = state["exp_avg_sq"] / (1 - beta2 ** state["step"])
    return m / (v.sqrt() + group["eps"]) + group["weight_decay"] * weight


def trust_ratio(weight: Tensor, step: Tensor) -> Tensor:
    """‖w‖ / ‖u‖; 1 where one of them is zero."""
    w, u = weight.norm(), step.norm()
    return torch.where((w > 0) & (u > 0), w / u.clamp(min=torch.finfo(u.dtype).tiny), torch.ones_like(w))
