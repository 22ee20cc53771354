"""What a decoder adds to BERT's parts (Vaswani et al. 2017, arXiv:1706.03762): cross-attention to the encoder's output,
and generation from left to right. Letters as in `minibert.model`, S source tokens, T target tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import Batch, Block, SelfAttention, Tap, no_tap, prefix_tap


@dataclass(frozen=True, kw_only=True)
class PairBatch(Batch):
    """ids: (B, S) the encoder's input · target: (B, T) the decoder's input, [BOS] first · labels: (B, T) the token to
    predict at each of these positions: the target shifted left by one."""

    target: Tensor

    @property
    def tokens(self) -> int:
        """Real tokens on both sides."""
        return super().tokens + self.num_targets


@dataclass(frozen=True)
class Seq2SeqOutput:
    """logits: (B, T, V) · loss: mean cross-entropy of the next word, None where the batch has no labels."""

    logits: Tensor
    loss: Tensor | None = None


class CrossAttention(SelfAttention):
    """Queries from the decoder, keys and values from the encoder's output (§3.2.3)."""

    def forward(  # type: ignore[override]  # with a memory
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, tap: Tap = no_tap
    ) -> Tensor:
        # x: (B, T, H); memory: (B, S, H); mask: broadcastable to (B, A, T, S)
        q = tap("query", self.split(self.query(x)))  # (B, A, T, D)
        k = tap("key", self.split(self.key(memory)))  # (B, A, S, D)
        v = tap("value", self.split(self.value(memory)))  # (B, A, S, D)
        return tap("out", self.output(self.merge(self.attend(q, k, v, mask, tap))))  # (B, T, H)


class DecoderBlock(Block):
    """BERT's block with cross-attention: self-attention, attention to the source, feed-forward (§3.1)."""

    def __init__(self, config: BertConfig):
        super().__init__(config)
        self.cross = CrossAttention(config)
        self.cross_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(  # type: ignore[override]  # with a memory
        self, x: Tensor, memory: Tensor, mask: Tensor, source_mask: Tensor | None, tap: Tap = no_tap
    ) -> Tensor:
        x = tap("attn.norm", self.attn_norm(x + self.dropout(self.attn(x, mask, prefix_tap(tap, "attn")))))  # (B, T, H)
        looked_up = self.cross(x, memory, source_mask, prefix_tap(tap, "cross"))
        x = tap("cross.norm", self.cross_norm(x + self.dropout(looked_up)))  # (B, T, H)
        return tap("out", self.mlp_norm(x + self.dropout(self.mlp(x, prefix_tap(tap, "mlp")))))  # (B, T, H)


@torch.no_grad()
def greedy(model: Any, source: Batch, bos: int, eos: int, most: int, tap: Tap = no_tap) -> list[list[int]]:
    """Greedy decoding until [EOS] or `most` tokens. → ids for each source, without [EOS].

    model: an encoder–decoder with `encode` and `decode`.
    """
    memory = model.encode(source, tap)
    target = torch.full((source.ids.size(0), 1), bos, device=source.ids.device)  # (B, 1)
    for _ in range(most):
        best = model.decode(target, memory, source, tap)[:, -1].argmax(-1)  # (B,)
        target = torch.cat([target, best[:, None]], dim=1)
        if (target[:, 1:] == eos).any(dim=1).all():
            break
    return [row[: row.index(eos)] if eos in row else row for row in target[:, 1:].tolist()]
