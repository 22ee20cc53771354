"""Classifiers of one or more layers on top of BERT, and the losses they learn by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.model import IGNORE
from minibert.training.cross_entropy import cross_entropy

ACTIVATIONS = {"tanh": nn.Tanh, "gelu": nn.GELU, "relu": nn.ReLU}
NORMS = ("none", "batch", "layer")
LOSSES = ("cross_entropy", "class_weights", "focal", "label_smoothing")
MOST_LAYERS = 8
SMOOTHING = 0.1  # Szegedy et al. 2016, §7

Loss = Callable[[Tensor, Tensor], Tensor]


class BatchNorm(nn.BatchNorm1d):
    """Normalises each feature over the batch (Ioffe and Szegedy 2015, algorithm 1), in evaluation by the running mean
    and variance. A batch of one row has no variance and is normalised as in evaluation. x: (B, H)."""

    def __init__(self, width: int):
        super().__init__(width)
        self.num_batches_tracked = None  # an unused counter that could overflow in a float16 checkpoint

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) > 1:
            return super().forward(x)
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)


def classifier(
    width: int, outputs: int, *, depth: int, activation: str, norm: str, dropout: float, of_tokens: bool = False
) -> nn.Module:
    """`depth` layers, (…, width) → (…, outputs): one is BERT's, two with tanh are RoBERTa's, two with GELU ELECTRA's.

    of_tokens: applied to every token; then no batch norm, as padding would count in its mean. Raises ValueError.
    """
    if not 1 <= depth <= MOST_LAYERS:
        raise ValueError(f"a classifier has 1 to {MOST_LAYERS} layers, not {depth}")
    if activation not in ACTIVATIONS:
        raise ValueError(f"the activation must be one of {', '.join(ACTIVATIONS)}, not {activation!r}")
    if norm not in NORMS:
        raise ValueError(f"the norm must be one of {', '.join(NORMS)}, not {norm!r}")
    if depth == 1:
        if norm != "none":
            raise ValueError("a norm stands between two layers: give the classifier more than one")
        return nn.Linear(width, outputs)
    if norm == "batch" and of_tokens:
        raise ValueError("batch norm is for tasks that read one vector: among tokens it would count padding")
    norms = {"batch": BatchNorm, "layer": nn.LayerNorm}
    layers: list[nn.Module] = []
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), *([norms[norm](width)] if norm in norms else [])]
        layers += [ACTIVATIONS[activation](), nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(width, outputs))


# --- losses -----------------------------------------------------------------------------------------------------------


def check_loss(loss: str, gamma: float, weights: Sequence[float] = ()) -> None:
    """Raise ValueError for arguments that `class_loss` and `label_loss` do not accept."""
    if loss not in LOSSES:
        raise ValueError(f"the loss must be one of {', '.join(LOSSES)}, not {loss!r}")
    if not 0 <= gamma <= 10:
        raise ValueError(f"the focal loss has an exponent from 0 to 10, not {gamma}")
    if not all(0 < weight < float("inf") for weight in weights):
        raise ValueError("the weights of classes are positive numbers")


def class_loss(loss: str, weights: Tensor | None, gamma: float) -> Loss:
    """Loss of (N, classes) logits and (N,) labels: the mean over labels other than −100; 0 if there are none.

    class_weights: each example is weighted by its class, and the mean is over the weights · focal: an example whose
    class has the probability p counts (1 − p)^γ (Lin et al. 2017, equation 4) · label_smoothing: a tenth of the target
    is spread over all classes.
    """
    if loss == "cross_entropy":
        return cross_entropy

    def measure(logits: Tensor, labels: Tensor) -> Tensor:
        target_mask = labels != IGNORE
        logits, labels = logits[target_mask], labels[target_mask]
        smoothing = SMOOTHING if loss == "label_smoothing" else 0.0
        each = F.cross_entropy(logits, labels, reduction="none", label_smoothing=smoothing)  # (N,)
        counts = torch.ones_like(each)
        if loss == "focal":
            each = focal(each, gamma)
        elif loss == "class_weights" and weights is not None:
            counts = weights.to(each)[labels]
        return (counts * each).sum() / counts.sum().clamp(min=1e-9)

    return measure


def label_loss(loss: str, weights: Tensor | None, gamma: float) -> Loss:
    """Binary cross-entropy of (N, labels) logits and targets of 0 and 1. class_weights: targets of 1 count their
    label's weight, targets of 0 count 1 · focal: as in `class_loss` · label_smoothing: targets of 0.05 and 0.95."""

    def measure(logits: Tensor, targets: Tensor) -> Tensor:
        if loss == "label_smoothing":
            targets = targets * (1 - SMOOTHING) + SMOOTHING / 2
        positive = weights.to(logits) if loss == "class_weights" and weights is not None else None
        each = F.binary_cross_entropy_with_logits(logits, targets, reduction="none", pos_weight=positive)
        if loss == "focal":
            each = focal(each, gamma)
        return each.mean()

    return measure


def focal(losses: Tensor, gamma: float) -> Tensor:
    """−log p → −(1 − p)^γ · log p; the clamp avoids an infinite or NaN gradient of the power at p = 1."""
    return losses * (-torch.expm1(-losses)).clamp(min=1e-12) ** gamma
