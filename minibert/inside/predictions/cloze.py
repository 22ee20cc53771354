"""Inside masked language modelling: what became of each token, the distribution that a model predicts at a position,
and how far apart two distributions are."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from minibert.model import IGNORE, Batch, BertForPreTraining

TOKENS = 256  # read at once: (M, V) of many rows is large
UNTOUCHED, MASKED, RANDOM, KEPT = FATES = ("untouched", "masked", "random", "kept")


def fates(ids: Tensor, corrupted: Tensor, labels: Tensor, mask_id: int) -> list[str]:
    """What `corruption.mask_tokens` did to each token of one row: one of FATES each.

    ids, corrupted, labels: (T,). A random draw that hits the original token, or [MASK], cannot be recognized: it counts
    as `kept` or `masked`.
    """
    result = []
    for was, now, label in zip(ids.tolist(), corrupted.tolist(), labels.tolist(), strict=True):
        if label == IGNORE:
            result.append(UNTOUCHED)
        elif now == mask_id:
            result.append(MASKED)
        else:
            result.append(KEPT if now == was else RANDOM)
    return result


@torch.no_grad()
def expectations(model: BertForPreTraining, ids: Sequence[int], positions: Sequence[int]) -> Tensor:
    """Log-probability (natural) of every entry of the vocabulary at some positions of one sentence.

    ids: T of them, as the model reads them · → (len(positions), V) float64, each row's exp sums to 1. Works at any
    position, masked or not: the head answers the same question everywhere, "which token belongs here?"
    """
    if not positions:
        return torch.empty(0, model.config.vocab_size, dtype=torch.float64)
    asked = sorted(set(positions))
    labels = torch.full((1, len(ids)), IGNORE)
    labels[0, asked] = 0  # any label: only the positions that have one are computed
    logits = model(Batch(torch.tensor([list(ids)]), labels=labels)).mlm_logits  # (M, V), in reading order
    log_probs = F.log_softmax(logits.double(), dim=-1)
    return log_probs[[asked.index(position) for position in positions]]


@torch.no_grad()
def token_losses(model: BertForPreTraining, ids: Tensor, labels: Tensor) -> Tensor:
    """−ln p of the true token wherever `labels` has one, 0 elsewhere. ids, labels: (B, T), without padding → (B, T)
    float64."""
    losses, chosen = torch.zeros(labels.shape, dtype=torch.float64), labels != IGNORE
    rows = chosen.any(1).nonzero().flatten()  # (N,)
    for some in rows.split(max(1, TOKENS // labels.size(1))):
        logits = model(Batch(ids[some], labels=labels[some])).mlm_logits  # (M, V), in reading order
        part = chosen.new_zeros(chosen.shape).index_fill(0, some, True) & chosen
        losses[part] = F.cross_entropy(logits.double(), labels[part], reduction="none")
    return losses


@torch.no_grad()
def expectations_of_rows(model: BertForPreTraining, rows: Sequence[Sequence[int]], positions: Sequence[int]) -> Tensor:
    """As `expectations`, at one position of each row: (N, V) float64. rows: N of equal length, read in one batch."""
    ids = torch.tensor([list(row) for row in rows])
    labels = torch.full_like(ids, IGNORE)
    labels[torch.arange(len(ids)), list(positions)] = 0
    return F.log_softmax(model(Batch(ids, labels=labels)).mlm_logits.double(), dim=-1)


def rank(log_probs: Tensor, token: int) -> int:
    """1 for the likeliest entry of the vocabulary, V for the least likely. log_probs: (V,)."""
    return int((log_probs > log_probs[token]).sum()) + 1


def kl_divergence(log_p: Tensor, log_q: Tensor) -> float:
    """KL(p‖q) = Σ p (ln p − ln q) in nats: what it costs to expect q where p is true. log_p, log_q: (V,)."""
    return float((log_p.exp() * (log_p - log_q)).sum())


def shifts(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Each token's part (p − q)(ln p − ln q) of KL(p‖q) + KL(q‖p), in nats: (V,), none below zero.

    Large where a token is likely in one distribution and much less so in the other: the tokens that tell them apart.
    """
    return (log_p.exp() - log_q.exp()) * (log_p - log_q)
