"""Cross-entropy that reads the logits once: over a whole vocabulary they are the largest tensor of a training step."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from minibert.config import IGNORE

PIECE = 2**19  # logits read at once: 2 MB in float32, so that a processor's cache holds them


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean over the labels other than −100, in float32; 0 if there are none. logits: (N, classes), labels: (N,)."""
    if logits.device.type == "cpu" and logits.numel() > PIECE:
        return CrossEntropyInPieces.apply(logits, labels)
    return F.cross_entropy(logits.float(), labels, ignore_index=IGNORE, reduction="sum") / num_labels(labels)


def num_labels(labels: Tensor) -> Tensor:
    return (labels != IGNORE).sum().clamp(min=1)


class CrossEntropyInPieces(torch.autograd.Function):
    """Some rows after the other, and the gradient, softmax − one-hot, on the way forward: only it is as large as
    the logits. F.cross_entropy makes a float32 copy of them, their log-softmax and its gradient."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> Tensor:
        count, rows = num_labels(labels), max(1, PIECE // logits.size(1))
        gradient = torch.empty_like(logits) if ctx.needs_input_grad[0] else None
        sums = []
        for start in range(0, len(logits), rows):
            here = slice(start, start + rows)
            log_probs, targets = logits[here].float().log_softmax(-1), labels[here]  # (rows, V), (rows,)
            sums.append(F.nll_loss(log_probs, targets, ignore_index=IGNORE, reduction="sum"))
            if gradient is not None:
                difference = log_probs.exp_()
                difference[torch.arange(len(targets)), targets.clamp(min=0)] -= 1
                gradient[here] = difference.mul_(((targets != IGNORE) / count).unsqueeze(-1))
        ctx.save_for_backward(gradient)  # so that it is freed on the way back
        return torch.stack(sums).sum() / count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient if upstream == 1 else gradient * upstream, None
