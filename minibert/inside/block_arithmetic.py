"""One block of BERT taken apart: what each half adds, what LayerNorm makes of the sum, how much of the input is left.

The vectors are the model's own, recorded by a tap (`heads.arithmetic.record`). Sums and LayerNorm are recomputed in
float64 from these float32 vectors; the model's own result differs from them by float32 rounding only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Sublayer:
    """One half of a block: x → LayerNorm(x + f(x)), with f attention or the feed-forward network. T tokens."""

    x: Tensor  # (T, H) what comes in
    added: Tensor  # (T, H) f(x)
    out: Tensor  # (T, H) the model's own result
    norm: nn.LayerNorm

    @property
    def sum(self) -> Tensor:
        """(T, H) float64: x + f(x)."""
        return self.x.double() + self.added.double()

    @property
    def mean(self) -> Tensor:
        """(T,) float64: the mean of each token's H numbers, which LayerNorm takes away."""
        return self.sum.mean(-1)

    @property
    def variance(self) -> Tensor:
        """(T,) float64: their variance (÷ H), by whose root LayerNorm divides (Ba et al. 2016, §3.1)."""
        return self.sum.var(-1, correction=0)

    @property
    def standardized(self) -> Tensor:
        """(T, H) float64: mean 0, variance 1, before the learned gain and bias."""
        return (self.sum - self.mean[:, None]) / (self.variance[:, None] + self.norm.eps).sqrt()

    @property
    def normalized(self) -> Tensor:
        """(T, H) float64: standardized · gain + bias."""
        return self.standardized * self.norm.weight.detach().double() + self.norm.bias.detach().double()


@dataclass(frozen=True)
class OneBlock:
    """What one block computed for one sequence."""

    attention: Sublayer
    feed_forward: Sublayer
    hidden: Tensor  # (T, F) after the activation

    @property
    def kept(self) -> Tensor:
        """(T,) float64: the cosine between each token's vector before and after the block."""
        return cosine(self.attention.x, self.feed_forward.out)


def take_block_apart(model: Any, seen: dict[str, Tensor], layer: int) -> OneBlock:
    """The block's numbers from `record(model, batch)`, for the first sequence of the batch. layer counts from 0.

    model: a `Bert` or a model with one in `.bert`.
    """
    block = getattr(model, "bert", model).blocks[layer]
    at = f"blocks.{layer}."
    middle = seen[at + "attn.norm"][0]
    return OneBlock(
        Sublayer(inputs(seen)[layer], seen[at + "attn.out"][0], middle, block.attn_norm),
        Sublayer(middle, seen[at + "mlp.out"][0], seen[at + "out"][0], block.mlp_norm),
        seen[at + "mlp.hidden"][0],
    )


def inputs(seen: dict[str, Tensor]) -> list[Tensor]:
    """The input of each block, then the output of the last, of the first sequence: L + 1 of (T, H)."""
    return [seen["embeddings.out"][0], *(x[0] for name, x in seen.items() if is_block_output(name))]


def is_block_output(name: str) -> bool:
    return name.startswith("blocks.") and name.endswith(".out") and name.count(".") == 2


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Cosine similarity along the last axis, in float64."""
    return F.cosine_similarity(a.double(), b.double(), dim=-1)


def kept_by_layer(seen: dict[str, Tensor]) -> Tensor:
    """(L, T): the cosine between input and output of each block, for each token."""
    layers = inputs(seen)
    return torch.stack([cosine(a, b) for a, b in pairwise(layers)])
