"""Virtual adversarial training (Miyato, Dai and Goodfellow 2016, arXiv:1605.07725; Miyato et al. 2018): without a
label, penalize that a small perturbation of the word embeddings changes the prediction."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.model import Batch

XI = 1e-1  # ξ: length of the first, random perturbation


def divergence(logits: Tensor, clean: Tensor) -> Tensor:
    """KL(clean ‖ perturbed), averaged over the rows. (B, C) each."""
    log_p, log_q = F.log_softmax(clean.float(), -1), F.log_softmax(logits.float(), -1)
    return (log_p.exp() * (log_p - log_q)).sum(-1).mean()


def scaled_to_norm(x: Tensor, length: float) -> Tensor:
    """Scale each row's (T, H) matrix to this Euclidean norm."""
    return x * (length / x.flatten(1).norm(dim=1).clamp_min(1e-12)).view(-1, 1, 1)


def perturbed_logits(model: nn.Module, batch: Batch, perturbation: Tensor) -> Tensor:
    """The logits when the perturbation, (B, T, H), is added to the token embeddings."""
    return model(batch, lambda name, x: x + perturbation if name == "embeddings.token" else x).logits


def adversarial_perturbation(
    model: Any, batch: Batch, clean: Tensor, epsilon: float, direction: Tensor | None = None
) -> Tensor:
    """r = ε g/‖g‖, g = ∇ KL(p(x) ‖ p(x + r)) at r = ξ d, d a random `direction`: one power iteration towards the
    direction in which the prediction changes most (Miyato et al. 2018, §3.3). (B, T, H), 0 at padding."""
    if direction is None:
        direction = torch.randn(*batch.ids.shape, model.bert.embeddings.token.embedding_dim, device=batch.ids.device)
    real = torch.ones_like(batch.ids) if batch.padding is None else batch.padding
    start = scaled_to_norm(direction * real.unsqueeze(-1), XI).requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(divergence(perturbed_logits(model, batch, start), clean), start)
    return scaled_to_norm(gradient.detach() * real.unsqueeze(-1), epsilon)


def smoothness_loss(model: nn.Module, batch: Batch, epsilon: float) -> Tensor:
    """KL between the predictions for a text and for the same text with the worst perturbation. Dropout is off, since it
    would perturb as well."""
    modes = {module: module.training for module in model.modules()}  # frozen modules are in eval mode already
    model.eval()
    with torch.no_grad():
        clean = model(batch).logits
    perturbation = adversarial_perturbation(model, batch, clean, epsilon)
    loss = divergence(perturbed_logits(model, batch, perturbation), clean)
    for module, training in modes.items():
        module.training = training
    return loss
