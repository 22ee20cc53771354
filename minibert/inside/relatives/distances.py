"""What NEZHA's relative positions add to a head's scores, and what changes when words are put before a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from minibert.model import IGNORE, Batch, Tap, no_tap


@dataclass(frozen=True)
class Heard:
    """One head's scores for each pair of tokens. distance: j − i, clipped (T, T) · vectors: r_ij (T, T, D) ·
    by_distance: q_i·r_ij/√D, what distances add to the scores (T, T) · scores: (q_i·k_j + q_i·r_ij)/√D (T, T)."""

    distance: Tensor
    vectors: Tensor
    by_distance: Tensor
    scores: Tensor


def clipping(model: Any, furthest: int | None) -> Tap:
    """A tap that clips a NEZHA's distances at `furthest` instead of its own `max_relative_position`; `no_tap` if that
    is None or not smaller."""
    if furthest is None or furthest >= model.config.max_relative_position:
        return no_tap
    attention = model.bert.blocks[0].attn

    def tap(name: str, x: Tensor) -> Tensor:
        if not name.endswith("attn.relative"):
            return x
        return attention.sinusoids[clipped(len(x), furthest) + attention.furthest].to(x.dtype)  # (T, T, D)

    return tap


def clipped(length: int, furthest: int) -> Tensor:
    """j − i, at most `furthest` either way. (T, T)"""
    place = torch.arange(length)
    return (place[None, :] - place[:, None]).clamp(-furthest, furthest)


@torch.no_grad()
def heard(model: Any, ids: Sequence[int], layer: int, head: int, furthest: int) -> Heard:
    """layer, head: from 0 · furthest: at most the model's own."""
    seen: dict[str, Tensor] = {}
    clip = clipping(model, furthest)

    def tap(name: str, x: Tensor) -> Tensor:
        x = clip(name, x)
        if name.startswith(f"blocks.{layer}.attn."):
            seen[name.rpartition(".")[2]] = x
        return x

    model.bert(Batch(torch.tensor([list(ids)])), tap)
    return Heard(
        clipped(len(ids), furthest),
        seen["relative"],
        seen["relative_scores"][0, head] / seen["query"].size(-1) ** 0.5,
        seen["scores"][0, head],
    )


@torch.no_grad()
def score(model: Any, ids: Sequence[int], layer: int, head: int, pair: tuple[int, int]) -> float:
    """One head's score, before softmax, of token `pair[0]` for token `pair[1]`, in any model of the family."""
    seen: dict[str, Tensor] = {}

    def tap(name: str, x: Tensor) -> Tensor:
        return seen.setdefault(name, x) if name == f"blocks.{layer}.attn.scores" else x

    model.bert(Batch(torch.tensor([list(ids)])), tap)
    return float(seen[f"blocks.{layer}.attn.scores"][0, head, pair[0], pair[1]])


@torch.no_grad()
def expected(model: Any, ids: Sequence[int], place: int, mask_id: int, furthest: int | None = None) -> Tensor:
    """Probabilities that a masked language model predicts at `place`, with [MASK] there. → (V,)"""
    row = torch.tensor([list(ids)])
    row[0, place] = mask_id
    labels = torch.full_like(row, IGNORE)
    labels[0, place] = ids[place]
    return model(Batch(row, labels=labels), clipping(model, furthest)).mlm_logits[0].softmax(-1)
