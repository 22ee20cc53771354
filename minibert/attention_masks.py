"""Attention masks: pure functions → mask, True where attention is allowed, broadcastable to (B, A, T, T)."""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(real: Tensor) -> Tensor:
    """Every position sees every real token: BERT's own mask. real: (B, T) bool → (B, 1, 1, T)."""
    return real[:, None, None, :]


def causal_mask(length: int, device=None) -> Tensor:
    """Position i sees j ≤ i: GPT's mask, the decoder's (Vaswani et al. 2017, §3.2.3). → (1, 1, T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def prefix_mask(segments: Tensor) -> Tensor:
    """Segment 0 sees itself both ways; segment 1 sees segment 0 and its own past (UniLM's sequence-to-sequence mask,
    Dong et al. 2019, §2.2). segments: (B, T) of 0 and 1 → (B, 1, T, T)."""
    length = segments.size(1)
    source = (segments == 0)[:, None, None, :]  # (B, 1, 1, T)
    return source | (causal_mask(length, segments.device) & (segments == 1)[:, None, :, None])
