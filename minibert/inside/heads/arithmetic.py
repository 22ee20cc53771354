"""One attention head taken apart: every number between what a layer reads and what the head hands on.

NEZHA adds a vector r_ij for the distance of two tokens to key and value: the terms are q · (k + r) and p · (v + r).
XLNet adds a number for distances and segments to q · k: it is the `constant` of that sum.

The matrices are the model's own, recorded by a tap while it ran. The arithmetic behind one of their cells is done again
in float64 from the model's float32 factors, term by term: the total is exact to far more digits than are shown, and
the model's number beside it differs only by the rounding of 32-bit arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from minibert.model import Batch, Tap, no_tap

PROJECTIONS = ("query", "key", "value")


@torch.inference_mode()
def record(model: nn.Module, batch: Batch, tap: Tap = no_tap) -> dict[str, Tensor]:
    """Run the model and return every named intermediate, with the batch axis. `tap` may change them on the way."""
    seen: dict[str, Tensor] = {}

    def keep(name: str, x: Tensor) -> Tensor:
        seen[name] = tap(name, x)
        return seen[name]

    model(batch, keep)
    return seen


@dataclass(frozen=True)
class SumOfProducts:
    """A number as a sum of products. left, right: (N,) float64, the factors; `constant` is added at the end (a
    bias)."""

    left: Tensor
    right: Tensor
    constant: float = 0.0

    @property
    def terms(self) -> Tensor:
        """(N,) float64: the products. Exact, since the factors come from float32."""
        return self.left * self.right

    @property
    def total(self) -> float:
        return math.fsum([*self.terms.tolist(), self.constant])


@dataclass(frozen=True)
class SoftmaxRow:
    """A row of softmax: powers of e, and each one's share of their sum. scores: (T,) float64, −∞ where masked."""

    scores: Tensor

    @property
    def shift(self) -> float:
        """Subtracted from every score before exp, which changes no share: 0, unless exp could overflow."""
        top = self.scores.max().item()
        return top if abs(top) > 300 else 0.0

    @property
    def powers(self) -> Tensor:
        """(T,) float64: e^(score − shift)."""
        return (self.scores - self.shift).exp()

    @property
    def total(self) -> float:
        return math.fsum(self.powers.tolist())

    @property
    def probs(self) -> Tensor:
        return self.powers / self.total


@dataclass(frozen=True)
class HeadTrace:
    """What one head of one layer computed for one sequence. T tokens, D = head size, H = hidden size.

    relative, relative_scores: what distances add to keys and values, and to q·k; None in BERT, where they add nothing.
    """

    x: Tensor  # (T, H) the layer's input
    query: Tensor  # (T, D)
    key: Tensor  # (T, D)
    value: Tensor  # (T, D)
    scores: Tensor  # (T, T) q·k / √D, before the mask
    allowed: Tensor  # (T, T) bool: where the mask lets row i look at column j
    probs: Tensor  # (T, T) rows sum to 1
    mixed: Tensor  # (T, D)
    weights: dict[str, Tensor]  # "query" | "key" | "value" → (D, H), this head's rows of the layer's matrix
    biases: dict[str, Tensor]  # → (D,)
    relative: Tensor | None = None  # (T, T, D) r_ij
    relative_scores: Tensor | None = None  # (T, T) q_i · r_ij

    @property
    def size(self) -> int:
        """D."""
        return self.query.size(-1)

    @property
    def products(self) -> Tensor:
        """(T, T): q_i · k_j, plus what distances add to it, before ÷√D."""
        products = self.query @ self.key.T
        return products if self.relative_scores is None else products + self.relative_scores

    @property
    def masked(self) -> Tensor:
        """(T, T): the scores softmax reads, −∞ where masked."""
        return self.scores.masked_fill(~self.allowed, -math.inf)

    def projection_terms(self, which: str, i: int, d: int) -> SumOfProducts:
        """Row i, number d of q, k or v: Σ_h x_i[h] · W[d, h] + b[d], H terms."""
        return SumOfProducts(self.x[i].double(), self.weights[which][d].double(), self.biases[which][d].item())

    def score_terms(self, i: int, j: int) -> SumOfProducts:
        """q_i · k_j, or q_i · (k_j + r_ij): D terms; a number that is added to the product is the constant."""
        added = self.relative_scores if self.relative is None else None
        constant = 0.0 if added is None else added[i, j].item()
        return SumOfProducts(self.query[i].double(), self.at_distance(self.key, i)[j], constant)

    def softmax_row(self, i: int) -> SoftmaxRow:
        return SoftmaxRow(self.masked[i].double())

    def mix_terms(self, i: int, d: int) -> SumOfProducts:
        """Row i, number d of the result: Σ_j p_ij · v_j[d], or Σ_j p_ij · (v_j + r_ij)[d]: T terms."""
        return SumOfProducts(self.probs[i].double(), self.at_distance(self.value, i)[:, d])

    def at_distance(self, vectors: Tensor, i: int) -> Tensor:
        """Keys or values for token i, (T, D) float64: each plus its r_ij, where the model has them."""
        return vectors.double() if self.relative is None else vectors.double() + self.relative[i].double()


def take_apart(model: Any, batch: Batch, seen: dict[str, Tensor], layer: int, head: int) -> HeadTrace:
    """The head's numbers from `record(model, batch)`, for the first sequence of the batch.

    model: a `Bert` or a model with one in `.bert`. layer and head count from 0.
    """
    bert = getattr(model, "bert", model)
    attention = bert.blocks[layer].attn
    rows = slice(head * attention.head_size, (head + 1) * attention.head_size)
    projections = {name: getattr(attention, name) for name in PROJECTIONS}
    at = f"blocks.{layer}.attn."
    return HeadTrace(
        x=seen["embeddings.out" if layer == 0 else f"blocks.{layer - 1}.out"][0],
        allowed=allowed(bert, batch),
        weights={name: linear.weight.detach()[rows] for name, linear in projections.items()},
        biases={name: bias_of(linear)[rows] for name, linear in projections.items()},
        **{name: seen[at + name][0, head] for name in (*PROJECTIONS, "scores", "probs", "mixed")},
        relative=seen.get(at + "relative"),
        relative_scores=seen[at + "relative_scores"][0, head] if at + "relative_scores" in seen else None,
    )


def bias_of(linear: nn.Linear) -> Tensor:
    """Its bias; zeros where it has none."""
    return linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias.detach()


def allowed(model: Any, batch: Batch) -> Tensor:
    """(T, T) bool: where the first sequence's row i may look at column j, in every head. model: as in `take_apart`."""
    size = batch.ids.size(1)
    mask = getattr(model, "bert", model).mask(batch)  # broadcastable to (B, A, T, T), alike in all heads
    return torch.ones(size, size, dtype=torch.bool) if mask is None else mask[0, 0].expand(size, size)


def entropy(probs: Tensor) -> Tensor:
    """Entropy in bits along the last axis: 0 when all weight is on one token, log2 n when n tokens share it evenly."""
    return -torch.special.xlogy(probs, probs).sum(-1) / math.log(2)


def all_probs(seen: dict[str, Tensor]) -> Tensor:
    """The attention of every head: (L, B, A, T, T), from `record`."""
    return torch.stack([x for name, x in seen.items() if name.endswith(".attn.probs")])


def crossing(probs: Tensor, second: Tensor) -> tuple[float, float]:
    """Share of attention that crosses from the first sentence of a pair to the second, and back; mean of all heads.

    probs: (…, T, T) · second: (T,) bool, True for the second sentence; everything else counts as the first.
    """
    to_second = probs[..., second].sum(-1)  # (…, T)
    return to_second[..., ~second].mean().item(), (1 - to_second[..., second]).mean().item()


def disagreement(probs: Tensor) -> Tensor:
    """How differently the heads of a layer look: the share of a row's weight that lies elsewhere in another head, mean
    over all rows and pairs of heads. 0: all alike, 1: no two look at the same token. probs: (…, A, T, T) → (…)."""
    heads = probs.size(-3)
    pairs = (probs.unsqueeze(-3) - probs.unsqueeze(-4)).abs().sum(-1) / 2  # (…, A, A, T)
    return pairs.mean(-1).sum((-1, -2)) / max(1, heads * (heads - 1))
