"""The objectives of sentence vectors, and two measures of their geometry.

Sentence-BERT (Reimers and Gurevych 2019, arXiv:1908.10084, §3) has three objectives; SimCSE (Gao et al. 2021,
arXiv:2104.08821) a contrastive one; alignment and uniformity are those of Wang and Isola (2020, arXiv:2005.10242, §4).
Everywhere u, v, a, p, n: (B, H).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

OBJECTIVES = {  # name → how many texts a row has; SimCSE reads its one twice
    "simcse": (1,),
    "simcse-supervised": (2, 3),
    "softmax": (2,),
    "cosine": (2,),
    "triplet": (3,),
}


def class_features(u: Tensor, v: Tensor) -> Tensor:
    """[u; v; |u − v|], (B, 3H): what the classifier reads, softmax(W[u; v; |u − v|])."""
    return torch.cat([u, v, (u - v).abs()], dim=-1)


def cosine_loss(u: Tensor, v: Tensor, scores: Tensor) -> Tensor:
    """The mean squared error of the cosine. scores: (B,), the target cosines."""
    return F.mse_loss(F.cosine_similarity(u, v), scores)


def triplet_loss(a: Tensor, p: Tensor, n: Tensor, margin: float = 1.0) -> Tensor:
    """max(‖a − p‖ − ‖a − n‖ + ε, 0): the positive is to be nearer than the negative, by a margin ε."""
    return ((a - p).norm(dim=-1) - (a - n).norm(dim=-1) + margin).clamp(min=0).mean()


def contrastive_loss(a: Tensor, p: Tensor, temperature: float = 0.05, hard: Tensor | None = None) -> Tensor:
    """−ln of e^{cos(aᵢ, pᵢ)/τ} over the sum of e^{cos(aᵢ, ·)/τ} for all p of the batch, and all hard negatives where
    there are some, (M, H) (SimCSE, equations 4 and 5)."""
    others = p if hard is None else torch.cat([p, hard])  # (B, H) or (B + M, H)
    similar = F.normalize(a, dim=-1) @ F.normalize(others, dim=-1).T / temperature  # (B, B + M)
    return F.cross_entropy(similar, torch.arange(len(a), device=a.device))


def alignment(u: Tensor, v: Tensor) -> Tensor:
    """The mean squared distance of pairs that belong together, at length 1: small is good; 0 … 4."""
    return (F.normalize(u, dim=-1) - F.normalize(v, dim=-1)).pow(2).sum(-1).mean()


def uniformity(x: Tensor) -> Tensor:
    """ln of the mean of e^{−2‖x − y‖²} over all pairs, at length 1: 0 if all are equal, small is good. N ≥ 2"""
    return torch.pdist(F.normalize(x, dim=-1)).pow(2).mul(-2).exp().mean().log()
