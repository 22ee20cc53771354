"""How far each layer moves each token's vector, from the input of a block to its output (Lan et al. 2020,
arXiv:1909.11942, §3.1 and figure 1), and which halves of the blocks share weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from minibert.heads import every_layer
from minibert.inside.geometry.vectors import cosines
from minibert.model import Batch, Bert


@dataclass(frozen=True)
class Movement:
    """Of L layers and T tokens. distances: (L, T), the length of output − input · cosines: (L, T), between the two."""

    distances: np.ndarray
    cosines: np.ndarray


@torch.no_grad()
def movement(bert: Bert, ids: Sequence[int]) -> Movement:
    """For one text, without padding."""
    states = torch.cat(every_layer(bert, Batch(torch.tensor([list(ids)])))).double().numpy()  # (L + 1, T, H)
    return Movement(np.linalg.norm(states[1:] - states[:-1], axis=-1), cosines(states[1:], states[:-1]))


def copies(bert: Bert, half: str) -> list[int]:
    """For each layer, which distinct half of a block it uses, "attn" or "mlp", from 1; all 1 if all layers share it."""
    seen: dict[int, int] = {}
    return [seen.setdefault(id(getattr(block, half)), len(seen) + 1) for block in bert.blocks]
