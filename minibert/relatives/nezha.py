"""NEZHA (Wei et al. 2019, arXiv:1909.00204, §2.2): no position embeddings. In each head, fixed sinusoids of the
distance of two tokens are added to keys and values. Names and fields as in transformers 4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor

from minibert.config import BertConfig
from minibert.count import NO_POSITIONS, CostRow, Shape
from minibert.model import Block, Embeddings, SelfAttention, Tap, masked_softmax, no_tap, stack
from minibert.relatives.base import Relative
from minibert.text.position_vectors import sinusoids

FURTHEST = 2**15  # limits the table of 2 · max_relative_position + 1 sinusoids, which no file size bounds
OWN = (NO_POSITIONS, CostRow("block.attn.relative", "scores", flops="4·B·T²·H", after="block.attn.mixed"))


@dataclass(frozen=True)
class NezhaConfig(BertConfig):
    """max_relative_position: larger distances are clipped to it."""

    model_type: ClassVar[str] = "nezha"
    max_relative_position: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.max_relative_position <= FURTHEST:
            raise ValueError(f"max_relative_position must be from 1 to {FURTHEST:,}, not {self.max_relative_position}")


class EmbeddingsWithoutPositions(Embeddings):
    """token + segment, LayerNorm, dropout."""

    def __init__(self, config: NezhaConfig):
        super().__init__(config)
        del self.position

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        if positions is not None:
            raise ValueError("NEZHA has no positions to give a token, only distances between two")
        segment = self.segment(torch.zeros_like(ids) if segments is None else segments)
        x = tap("sum", tap("token", self.token(ids)) + tap("segment", segment))  # (B, T, H)
        return tap("out", self.dropout(self.norm(x)))  # (B, T, H)


class RelativeAttention(SelfAttention):
    """score_ij = q_i·(k_j + r_ij)/√D, mixed_i = Σ_j p_ij (v_j + r_ij), with r_ij the sinusoid of j − i, clipped."""

    def __init__(self, config: NezhaConfig):
        super().__init__(config)
        self.furthest = config.max_relative_position
        self.sinusoids: Tensor
        self.register_buffer("sinusoids", sinusoids(2 * self.furthest + 1, self.head_size), persistent=False)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, tap: Tap = no_tap) -> Tensor:
        place, most = torch.arange(q.size(-2), device=q.device), self.furthest
        r = tap("relative", self.sinusoids[(place - place[:, None]).clamp(-most, most) + most])  # (T, T, D): of j − i
        by_place = tap("relative_scores", torch.einsum("bhid,ijd->bhij", q, r.to(q.dtype)))  # (B, A, T, T)
        scores = tap("scores", (q @ k.transpose(-1, -2) + by_place) / math.sqrt(self.head_size))  # (B, A, T, T)
        probs = tap("probs", masked_softmax(scores, mask))  # (B, A, T, T), rows sum to 1
        dropped = self.dropout(probs)
        return tap("mixed", dropped @ v + torch.einsum("bhij,ijd->bhid", dropped, r.to(v.dtype)))  # (B, A, T, D)


RELATIVE = Relative(
    "NEZHA",
    NezhaConfig,
    in_transformers=False,  # version 4 had it
    about="no position embeddings; each head is told how far apart two tokens stand, up to {max_relative_position}",
    components={"embeddings": EmbeddingsWithoutPositions, "blocks": stack(partial(Block, attention=RelativeAttention))},
    shape=lambda c: Shape(c, own=OWN),
)
