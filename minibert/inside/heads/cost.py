"""What a model loses without some of its attention heads, on texts whose answers are known (Michel et al. 2019,
arXiv:1905.10650).

Scores are paired: the same questions are answered with and without the heads, so the cost of a head is a mean of
differences and has a standard error that says how far it could be chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.inside.explanations.interventions import HeadAt, mean_over_tokens, switched_off
from minibert.model import IGNORE, Batch, Tap, no_tap
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer

ROWS = 32  # per batch


@dataclass(frozen=True)
class ClozeAnswers:
    """How a model answered N questions. losses: (N,), −ln of the probability of the right answer · right: (N,) bool."""

    losses: Tensor
    right: Tensor

    @property
    def loss(self) -> float:
        return self.losses.double().mean().item()

    @property
    def accuracy(self) -> float:
        return self.right.double().mean().item()


@dataclass(frozen=True)
class HeadCost:
    """A mean of paired differences and its standard error (NaN of a single pair)."""

    mean: float
    error: float


def difference(after: Tensor, before: Tensor) -> HeadCost:
    """after − before, both (N,) and in the same order."""
    d = after.double() - before.double()
    return HeadCost(d.mean().item(), (d.std() / math.sqrt(len(d))).item() if len(d) > 1 else math.nan)


def hidden_words(tokenizer: Tokenizer, texts: Sequence[str], max_length: int, *, rate: float = 0.15) -> list[Batch]:
    """Cloze questions: [MASK] in place of `rate` of each text's tokens, always the same ones, which are the targets."""
    rows = [tokenizer.encode(text, max_length=max_length) for text in texts]
    rows = sorted((row for row in rows if not all(row.special)), key=len)
    vocab, rng = MaskVocabulary.of(tokenizer), torch.Generator().manual_seed(0)
    batches = []
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        batch = padded_batch([row.ids for row in some], tokenizer.pad_id)
        special = torch.ones_like(batch.ids, dtype=torch.bool)  # and so is padding
        for i, row in enumerate(some):
            special[i, : len(row)] = torch.tensor(row.special)
        ids, labels = mask_tokens(batch.ids, special, vocab, rng, rate, (1.0, 0.0, 0.0))
        batches.append(replace(batch, ids=ids, labels=labels))
    return batches


def labelled(tokenizer: Tokenizer, texts: Sequence[str], classes: Sequence[int], max_length: int) -> list[Batch]:
    """Texts to classify: labels (B,)."""
    batches = []
    for start in range(0, len(texts), ROWS):
        ids = [tokenizer.encode(text, max_length=max_length).ids for text in texts[start : start + ROWS]]
        labels = torch.tensor(classes[start : start + ROWS])
        batches.append(replace(padded_batch(ids, tokenizer.pad_id), labels=labels))
    return batches


@torch.inference_mode()
def answers(model: nn.Module, batches: Sequence[Batch], tap: Tap = no_tap) -> ClozeAnswers:
    """Evaluate a model with an MLM head, or a text classifier, on all batches, in order."""
    losses, right = [], []
    for batch in batches:
        if (labels := batch.labels) is None:
            raise ValueError("a batch without labels")
        classes = labels.dim() == 1
        out = model(replace(batch, labels=None) if classes else batch, tap)
        logits = (out.logits if classes else out.mlm_logits).float()  # (N, classes or V)
        labels = labels[labels != IGNORE]  # (N,)
        losses.append(F.cross_entropy(logits, labels, reduction="none"))
        right.append(logits.argmax(-1) == labels)
    return ClozeAnswers(torch.cat(losses), torch.cat(right))


def without(
    model: nn.Module, batches: Sequence[Batch], heads: Collection[HeadAt], means: Tensor | None = None
) -> ClozeAnswers:
    """`answers` with these heads switched off; means as in `switched_off`."""
    return answers(model, batches, switched_off(heads, means) if heads else no_tap)


def layer_costs(
    model: Any, batches: Sequence[Batch], layer: int, intact: ClozeAnswers, means: Tensor | None = None
) -> list[tuple[HeadCost, HeadCost]]:
    """For each head of a layer alone: how much the loss rises, and the accuracy, when it is switched off."""
    costs = []
    for head in range(model.config.num_attention_heads):
        after = without(model, batches, {(layer, head)}, means)
        costs.append((difference(after.losses, intact.losses), difference(after.right, intact.right)))
    return costs


def confidence(model: nn.Module, batches: Sequence[Batch]) -> Tensor:
    """The largest weight of a row, averaged over the rows of all real tokens: (L, A), 0 … 1 (Voita et al. 2019)."""
    return mean_over_tokens(model, batches, "probs", lambda probs: probs.amax(-1))


def all_but(layers: int, heads: int, keep: HeadAt, *, everywhere: bool) -> set[HeadAt]:
    """All heads but `keep`: in its layer (the other layers stay whole), or in the model if `everywhere`."""
    return {
        (layer, head)
        for layer in range(layers)
        for head in range(heads)
        if (layer, head) != keep and (everywhere or layer == keep[0])
    }
