"""The network of Transformer-XL (Dai et al. 2019, arXiv:1901.02860, §3.3), as XLNet has it (Yang et al. 2019,
arXiv:1906.08237, §2.5): no position and segment embeddings; instead each head scores a pair of tokens also by their
distance, and by whether they are in the same segment."""

from __future__ import annotations

import math
import re

import torch
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.count import NO_POSITIONS, CostRow
from minibert.model import Batch, SelfAttention, Tap, masked_softmax, no_tap

NAMES = (  # ours → theirs, as transformers has them
    (r"\bembeddings\.token\b", "word_embedding"),
    (r"\bembeddings\.query\.weight\b", "mask_emb"),
    (r"\bblocks\.(\d+)\.attn\.query\.bias$", r"layer.\1.rel_attn.r_w_bias"),
    (r"\bblocks\.(\d+)\.attn\.distance_bias$", r"layer.\1.rel_attn.r_r_bias"),
    (r"\bblocks\.(\d+)\.attn\.segment_bias$", r"layer.\1.rel_attn.r_s_bias"),
    (r"\bblocks\.(\d+)\.attn\.segment\.weight$", r"layer.\1.rel_attn.seg_embed"),
    (r"\bblocks\.(\d+)\.attn\.distance\.weight$", r"layer.\1.rel_attn.r"),
    (r"\bblocks\.(\d+)\.attn\.([qkvo])\w+\.weight$", r"layer.\1.rel_attn.\2"),
    (r"\bblocks\.(\d+)\.attn_norm\b", r"layer.\1.rel_attn.layer_norm"),
    (r"\bblocks\.(\d+)\.mlp_norm\b", r"layer.\1.ff.layer_norm"),
    (r"\bblocks\.(\d+)\.mlp\.expand\b", r"layer.\1.ff.layer_1"),
    (r"\bblocks\.(\d+)\.mlp\.contract\b", r"layer.\1.ff.layer_2"),
    (r"^mlm\.decoder\b", "lm_loss"),
)


def distance_waves(longest: int, size: int, device=None) -> Tensor:
    """Sines, then cosines of the distances 1 − longest … longest − 1. → (2 · longest − 1, size)"""
    distance = torch.arange(1 - longest, longest, device=device).float()[:, None]
    frequency = 10000.0 ** (-torch.arange(0, size, 2, device=device).float() / size)  # (⌈size/2⌉,)
    return torch.cat([(distance * frequency).sin(), (distance * frequency).cos()], dim=-1)[:, :size]


class WordEmbeddings(nn.Module):
    """token, dropout: no position, no segment, no LayerNorm. The id V stands for a query, of which only the position is
    known; its embedding is the learned vector w (Yang et al. 2019, §2.3: g⁽⁰⁾ = w)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.hidden_size)
        self.query = nn.Embedding(1, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        unknown = ids == self.token.num_embeddings  # (B, T)
        words = self.token(ids.masked_fill(unknown, 0))  # (B, T, H)
        x = tap("token", torch.where(unknown.unsqueeze(-1), self.query.weight, words))  # (B, T, H)
        return tap("out", self.dropout(x))  # (B, T, H)


def places_and_segments(batch: Batch) -> dict[str, Tensor | None]:
    """Keyword arguments of `TransformerXlAttention.attend`."""
    return {"positions": batch.positions, "segments": batch.segments}


class TransformerXlAttention(SelfAttention):
    """score_ij = [(q_i + u)·k_j + (q_i + v)·W r_(i−j) + (q_i + b)·s_ij] / √D, with r the waves of a distance and s one
    of two vectors, for the same segment or for another. u is the bias of `query`: what is named q below is q + u.

    positions, segments: (B, T), by default 0 … T − 1, and one segment.
    """

    def __init__(self, config: BertConfig):
        super().__init__(config)
        width = config.hidden_size
        self.key, self.value, self.output, self.distance = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.segment = nn.Embedding(2, width)
        self.distance_bias, self.segment_bias = (nn.Parameter(torch.zeros(width)) for _ in range(2))

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None = None,
        tap: Tap = no_tap,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        relative = self.by_distance(q, positions, tap) + self.by_segment(q, segments)
        relative = tap("relative_scores", relative)  # (B, A, T, T)
        scores = tap("scores", (q @ k.transpose(-1, -2) + relative) / math.sqrt(self.head_size))  # (B, A, T, T)
        probs = tap("probs", masked_softmax(scores, mask))  # (B, A, T, T), rows sum to 1
        return tap("mixed", self.dropout(probs) @ v)  # (B, A, T, D)

    def by_distance(self, q: Tensor, positions: Tensor | None, tap: Tap = no_tap) -> Tensor:
        """(q_i + v)·W r_(i−j), computed for every distance, then gathered for each pair. → (B, A, T, T)"""
        place = torch.arange(q.size(-2), device=q.device)[None] if positions is None else positions  # (1 or B, T)
        longest = q.size(-2) if positions is None else int(positions.max()) + 1
        waves = distance_waves(longest, self.distance.in_features, q.device)
        r = tap("distances", self.split(self.distance(waves)[None]))  # (1, A, 2 · longest − 1, D)
        every = (q + self.in_heads(self.distance_bias - self.query.bias)) @ r.transpose(-1, -2)
        own = (place[:, :, None] - place[:, None, :] + longest - 1)[:, None]  # (1 or B, 1, T, T)
        return every.gather(-1, own.expand(*every.shape[:2], -1, -1))

    def by_segment(self, q: Tensor, segments: Tensor | None) -> Tensor:
        """(q_i + b)·s_ij. → (B, A, T, T), or (B, A, T, 1) where all is one segment."""
        s = self.split(self.segment.weight[None])  # (1, A, 2, D)
        both = (q + self.in_heads(self.segment_bias - self.query.bias)) @ s.transpose(-1, -2)  # (B, A, T, 2)
        if segments is None:
            return both[..., :1]
        another = (segments[:, :, None] != segments[:, None, :]).long()[:, None]  # (B, 1, T, T)
        return both.gather(-1, another.expand(-1, both.size(1), -1, -1))

    def in_heads(self, bias: Tensor) -> Tensor:
        return bias.view(1, self.heads, 1, self.head_size)


def own_rows() -> tuple[CostRow, ...]:
    """What `minibert.count` counts in place of BERT's rows, and beside them."""
    return (
        NO_POSITIONS,
        CostRow("embeddings.norm"),
        CostRow("embeddings.query", "embeddings", "H", after="embeddings.segment"),
        CostRow("block.attn.key", "attention", "H²", "2·B·T·H²"),
        CostRow("block.attn.value", "attention", "H²", "2·B·T·H²"),
        # every distance with every token, and the distances' own vectors; two segments are too little to count
        CostRow("block.attn.distance", "scores", "", "2·(2·T - 1)·H² + 2·B·T·(2·T - 1)·H", "block.attn.mixed"),
        CostRow("block.attn.output", "attention", "H²", "2·B·T·H²"),
        CostRow("block.attn.distance", "attention", "H²", after="block.attn.output"),
        CostRow("block.attn.distance_bias", "attention", "H", after="block.attn.output"),
        CostRow("block.attn.segment", "attention", "2·H", after="block.attn.output"),
        CostRow("block.attn.segment_bias", "attention", "H", after="block.attn.output"),
    )


def as_stored(name: str, weight: Tensor, config: BertConfig) -> Tensor:
    """A weight as transformers stores it: split into heads, some matrices transposed."""
    heads = (config.num_attention_heads, config.head_size)
    if re.search(r"rel_attn\.[qkvr]$", name):
        return weight.T.unflatten(1, heads)  # (A·D, H) → (H, A, D)
    if re.search(r"rel_attn\.(o|r_\w_bias|seg_embed)$", name):
        return weight.unflatten(-1, heads)
    return weight[None] if name.endswith("mask_emb") else weight


def as_read(name: str, weight: Tensor, config: BertConfig) -> Tensor:
    """The inverse of `as_stored`."""
    if re.search(r"rel_attn\.[qkvr]$", name) and weight.ndim == 3:
        return weight.flatten(1).T
    if re.search(r"rel_attn\.(o|r_\w_bias|seg_embed)$", name) and weight.ndim > 1:
        return weight.flatten(-2)
    return weight[0] if name.endswith("mask_emb") and weight.ndim == 3 else weight
