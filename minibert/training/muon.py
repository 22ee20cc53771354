"""Muon, the optimizer for the matrices of the blocks (Jordan et al. 2024), beside AdamW for everything else.

A gradient mostly points along a few directions; the others, which may be what is still to be learned, hardly move. Muon
makes all directions of a matrix's step equally long: of its momentum's singular value decomposition U S Vᵀ it keeps
U Vᵀ. A step takes a sixth longer and teaches more: `bench.toy` compares a minute of Muon with a minute of AdamW.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from minibert.training.precision import has_bfloat16

MOMENTUM = 0.9  # 0.95 is usual, for longer runs
# Coefficients of a polynomial that moves singular values between 0 and 1 towards 1: after five rounds they are 0.7 to
# 1.2 (Jordan et al. 2024), which is close enough.
A, B, C = 3.4445, -4.7750, 2.0315
ROUNDS = 5
# Root mean square of a weight's update, in learning rates. AdamW's is typically 0.2, and with that one rate suits both
# (Liu et al. 2025, §2.2); twice that is better for models as small as ours.
LENGTH = 0.4


class Muon(torch.optim.AdamW):
    """AdamW, except for groups marked `"muon": True`: Muon updates their weights, which must be matrices."""

    def __init__(self, groups: Iterable[dict], **options):
        super().__init__([{"muon": False, **group} for group in groups], **options)
        if any(weight.dim() != 2 for group in self.param_groups if group["muon"] for weight in group["params"]):
            raise ValueError("Muon moves matrices only")

    @torch.no_grad()
    def step(self, closure=None) -> None:  # type: ignore[override]  # without a closure
        for group in self.param_groups:
            if group["muon"]:
                for weight in group["params"]:
                    if weight.grad is not None:
                        self.move(weight, weight.grad, group["lr"], group["weight_decay"])
                        weight.grad = None  # AdamW skips weights without a gradient
        super().step(closure)

    def move(self, weight: nn.Parameter, grad: Tensor, rate: float, decay: float) -> None:
        state = self.state[weight]
        if not state:
            # AdamW expects a count of steps in every state it loads.
            state["step"], state["momentum"] = torch.zeros(()), torch.zeros_like(weight)
        state["step"] += 1
        state["momentum"].lerp_(grad, 1 - MOMENTUM)
        direction = orthogonal(grad.lerp(state["momentum"], MOMENTUM))  # Nesterov's momentum
        weight.mul_(1 - rate * decay).add_(direction, alpha=-rate * LENGTH * max(weight.shape) ** 0.5)


def in_a_block(name: str, weight: nn.Parameter) -> bool:
    """Whether a parameter is a matrix inside a block, that is, one for Muon."""
    return "blocks." in name and weight.dim() == 2


def orthogonal(matrix: Tensor) -> Tensor:
    """For a matrix U S Vᵀ (r, c), about U Vᵀ: singular values of 0.7 to 1.2, by Newton–Schulz iteration."""
    wide = matrix if matrix.size(0) <= matrix.size(1) else matrix.T  # products of the shorter side are cheaper
    x = wide.to(torch.bfloat16 if has_bfloat16(matrix.device) else torch.float32)
    x = x / x.norm().clamp(min=1e-7)  # now no singular value exceeds 1
    for _ in range(ROUNDS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    x = x.to(matrix.dtype)
    return x if matrix.size(0) <= matrix.size(1) else x.T
