"""Attention reduced to what a picture can show: the strongest edges up to a share of the mass, and small copies.

All edges of all heads are L · A · T², and most are too weak to see. The share left out is returned too, so that a page
can say how much of the attention it draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Edges:
    """The strongest edges of some heads, by head, then by row, the strongest of a row first. N edges, T tokens.

    counts: (A, T) edges of each row · columns: (N,) the tokens they go to · weights: (N,) · drawn: (A, T), the share of
    the row's mass among the kept tokens that its edges hold · hidden: (A, T), the share that goes to tokens not kept.
    Rows of tokens not kept have no edges, and NaN in `drawn` and `hidden`.
    """

    counts: Tensor
    columns: Tensor
    weights: Tensor
    drawn: Tensor
    hidden: Tensor


def strongest_edges(probs: Tensor, share: float, keep: Tensor | None = None, most: int = 12_000) -> Edges:
    """For each row, the fewest edges that together hold `share` (0 … 1) of its mass among the kept tokens.

    probs: (A, T, T), rows sum to 1 · keep: (T,) bool, the tokens to look at, all by default · most: limit on all edges
    together; each row gets at most its equal share of it, and at least one edge.
    """
    heads, size, _ = probs.shape
    kept = torch.arange(size) if keep is None else keep.nonzero().squeeze(1)  # (n,)
    counts = torch.zeros(heads, size, dtype=torch.long)
    drawn, hidden = (torch.full((heads, size), torch.nan) for _ in range(2))
    if not len(kept):
        return Edges(counts, torch.zeros(0, dtype=torch.long), torch.zeros(0), drawn, hidden)
    rows = probs[:, kept][:, :, kept]  # (A, n, n)
    mass = rows.sum(-1)  # (A, n)
    width = min(len(kept), max(1, most // (heads * len(kept))))
    weights, places = rows.topk(width, dim=-1)  # (A, n, width), sorted
    sums = weights.cumsum(-1)
    needed = (sums < share * mass.unsqueeze(-1) * (1 - 1e-6)).sum(-1) + 1  # + 1: the edge that reaches the share
    needed = needed.clamp(max=width)  # (A, n)
    taken = torch.arange(width) < needed.unsqueeze(-1)  # (A, n, width)
    counts[:, kept] = needed
    drawn[:, kept] = sums.gather(-1, needed.unsqueeze(-1) - 1).squeeze(-1) / mass
    hidden[:, kept] = (1 - mass).clamp(min=0)
    return Edges(counts, kept[places[taken]], weights[taken], drawn, hidden)


PLACES = ("sep", "cls", "itself", "previous", "next")


def by_place(probs: Tensor, cls: Tensor, sep: Tensor) -> Tensor:
    """Mean share of a head's attention that goes to each of PLACES: (…, T, T) → (…, 5). cls, sep: (T,) bool, where
    [CLS] and [SEP] stand; these two never count as itself, previous or next."""
    size = probs.size(-1)
    step = torch.arange(size)[None] - torch.arange(size)[:, None]  # column − row
    word = ~(cls | sep)
    aims = [sep.expand(size, -1), cls.expand(size, -1), *((step == n) & word for n in (0, -1, 1))]
    return torch.einsum("...ij,kij->...k", probs, torch.stack(aims).to(probs.dtype)) / size


def small_copies(probs: Tensor, size: int = 32) -> Tensor:
    """Matrices of at most `size` × `size`, max-pooled so that diagonals stay visible: (…, T, T) → (…, s, s)."""
    if probs.size(-1) <= size:
        return probs
    flat = F.adaptive_max_pool2d(probs.reshape(1, -1, *probs.shape[-2:]), size)
    return flat.reshape(*probs.shape[:-2], size, size)
