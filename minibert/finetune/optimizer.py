"""The optimizer of fine-tuning: learning rates by depth, Adam with and without bias correction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from minibert.finetune.learner import Learner, shared_blocks
from minibert.finetune.settings import FinetuneSettings
from minibert.train import optimizer_for, weight_groups


class UncorrectedAdamW(torch.optim.Optimizer):
    """AdamW without the bias correction of its averages, as in the original BERT code: they start at 0, so step t is
    (1 − β₁ᵗ)/√(1 − β₂ᵗ) times too long: 3.2 at the first, 6.6 at the twelfth (Mosbach et al. 2021, §3)."""

    def __init__(self, groups: Iterable[dict], betas: tuple[float, float], eps: float):
        super().__init__(groups, {"lr": 0.0, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # no closure is used here
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for weight in (p for p in group["params"] if p.grad is not None):
                state = self.state[weight]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(weight), torch.zeros_like(weight)
                state["m"].lerp_(weight.grad, 1 - beta1)
                state["v"].mul_(beta2).addcmul_(weight.grad, weight.grad, value=1 - beta2)
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.addcdiv_(state["m"], state["v"].sqrt().add_(group["eps"]), value=-group["lr"])


def finetuning_groups(learner: Learner, settings: FinetuneSettings) -> list[dict]:
    """The weights in groups as for pre-training, with lower learning rates in lower layers if layer_decay < 1."""
    top = learner.model.config.num_hidden_layers + 1
    if settings.layer_decay < 1 and shared_blocks(learner.model.bert):
        raise ValueError("all layers share one block, which can have but one learning rate: leave layer decay at 1")

    def scale(name: str) -> float:
        return settings.layer_decay ** (top - depth(name, top))

    return weight_groups(learner, settings.optimization, scale)


def finetuning_optimizer(learner: Learner, settings: FinetuneSettings) -> torch.optim.Optimizer:
    """The optimizer of pre-training, on `finetuning_groups`."""
    optimization, groups = settings.optimization, finetuning_groups(learner, settings)
    if settings.bias_correction:
        return optimizer_for(learner, optimization, groups)
    return UncorrectedAdamW(groups, (optimization.beta1, optimization.beta2), optimization.epsilon)


def depth(name: str, top: int) -> int:
    """Depth of a parameter: 0 for the embeddings, i + 1 for block i, `top` for the pooler and the new layers."""
    if ".embeddings." in name:
        return 0
    parts = name.split(".")
    return int(parts[parts.index("blocks") + 1]) + 1 if "blocks" in parts else top
