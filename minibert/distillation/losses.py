"""The losses between a student and its teacher: DistilBERT's, TinyBERT's and MiniLM's.

Letters: B batch · T tokens, or words common to both · A heads, D their size · H student's width, K teacher's. `real`:
(B, T) bool, the positions that count; None if all do. No gradient flows to the teacher.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def soft_label_loss(student: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """T² · CE(softmax(z_T / T), softmax(z_S / T)) (Hinton et al. 2015, §2; DistilBERT, Sanh et al. 2019, §3, with
    T = 2; TinyBERT, Jiao et al. 2020, equation 10). T² makes up for gradients that shrink with 1/T². (B, C) both.
    """
    targets = (teacher.detach().float() / temperature).softmax(-1)
    return -(targets * (student.float() / temperature).log_softmax(-1)).sum(-1).mean() * temperature**2


def soft_multilabel_loss(student: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """The same for labels that do not exclude each other: a sigmoid for each. (B, C) both."""
    targets = (teacher.detach().float() / temperature).sigmoid()
    return F.binary_cross_entropy_with_logits(student.float() / temperature, targets) * temperature**2


def regression_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """MSE to the teacher's number, for regression (Ba and Caruana 2014, §2.3). (B, 1) both."""
    return F.mse_loss(student.float(), teacher.detach().float())


def cosine_loss(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """1 − cos(h_S, h_T): hidden vectors should point the same way (DistilBERT, §3). (B, T, K) both."""
    return mean_over(1 - F.cosine_similarity(student.float(), teacher.detach().float(), dim=-1), real)


def hidden_loss(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """MSE(H_S·W, H_T) (TinyBERT, equations 8 and 9). student: (B, T, K), after the learned W; teacher: (B, T, K)."""
    return mean_over(((student.float() - teacher.detach().float()) ** 2).mean(-1), real)


def attention_loss(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """1/A · Σ_i MSE(A_i^S, A_i^T) of the scores before the softmax (TinyBERT, equation 7). (B, A, T, T). If the teacher
    has n times the heads, each n neighbours are averaged (our addition; in the paper the numbers are equal)."""
    if teacher.size(1) % student.size(1):
        raise ValueError(f"{teacher.size(1)} heads of the teacher cannot be shared out among {student.size(1)}")
    grouped = teacher.detach().float().unflatten(1, (student.size(1), -1)).mean(2)
    return mean_over(((student.float() - grouped) ** 2).mean(1), pairs(real))


def relation_loss(
    student: tuple[Tensor, Tensor], teacher: tuple[Tensor, Tensor], heads: int, real: Tensor | None = None
) -> Tensor:
    """KL(R_T ‖ R_S), R = softmax(x·yᵀ/√D): with queries and keys the last layer's attention, with values twice its
    value relation (MiniLM, Wang et al. 2020, §3). (x, y): (B, A, T, D) each, of either model. Both are split anew into
    `heads` heads (MiniLMv2, Wang et al. 2021, §3.1), so widths and numbers of heads may differ."""
    log_s = relations(*student, heads, real).log_softmax(-1)  # (B, heads, T, T)
    log_t = relations(teacher[0].detach(), teacher[1].detach(), heads, real).log_softmax(-1)
    divergence = log_t.exp() * (log_t - log_s)
    if real is not None:
        divergence = divergence.masked_fill(~real[:, None, None, :], 0.0)  # at padding both relations are 0
    return mean_over(divergence.sum(-1).mean(1), real)


def relations(x: Tensor, y: Tensor, heads: int, real: Tensor | None = None) -> Tensor:
    """x·yᵀ/√D after splitting into `heads` heads. x, y: (B, A, T, D) → (B, heads, T, T)."""
    x, y = (rehead(one.float(), heads) for one in (x, y))
    scores = x @ y.transpose(-1, -2) / math.sqrt(x.size(-1))
    return scores if real is None else scores.masked_fill(~real[:, None, None, :], torch.finfo(scores.dtype).min)


def rehead(x: Tensor, heads: int) -> Tensor:
    """(B, A, T, D) → (B, heads, T, A·D/heads): concatenate the heads, then split again."""
    x = x.transpose(1, 2).flatten(2)  # (B, T, A·D)
    if x.size(-1) % heads:
        raise ValueError(f"{x.size(-1)} numbers a token do not divide evenly among {heads} relation heads")
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def pairs(real: Tensor | None) -> Tensor | None:
    """(B, T) → (B, T, T): True where both count."""
    return None if real is None else real.unsqueeze(1) & real.unsqueeze(2)


def mean_over(values: Tensor, real: Tensor | None) -> Tensor:
    """The mean over positions that count; 0 if there are none."""
    if real is None:
        return values.mean()
    return values.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)
