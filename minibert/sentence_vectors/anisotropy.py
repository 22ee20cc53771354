"""The geometry of sentence vectors: a plane that shows one angle exactly, and the norms of frequent and rare words.

`inside.geometry.vectors.mean_cosine` and `anisotropy` measure how narrow a cone is (Ethayarajh 2019, §3.4). Here is
what BERT-flow (Li et al. 2020, arXiv:2011.05864, §2.3) adds: frequent words lie near the origin and rare ones far out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minibert.inside.geometry.vectors import mean_cosine, unit
from minibert.model import Bert
from minibert.tokenizer import Tokenizer

SAME = 1e-6  # shorter vectors count as zero


def plane(vectors: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Unit vectors projected onto the plane of the origin, a and b: (N + 2, 2), a and b last, the direction half way
    between them up. Those two lie on the unit circle at their true angle; the others lie within it, the nearer to the
    centre, the less of them is in this plane.

    vectors: (N, H) · a, b: (H,). If a and b are parallel or opposite, the second axis is the direction at right angles
    to them in which the others vary most.
    """
    rows, a, b = unit(vectors), unit(a), unit(b)
    up, across = a + b, a - b
    if np.linalg.norm(up) < SAME:  # opposite
        up = _other(rows, across)
    elif np.linalg.norm(across) < SAME:
        across = _other(rows, up)
    axes = unit(np.stack([across, up]))  # (2, H), at right angles: (a − b)·(a + b) = 1 − 1
    return np.concatenate([rows, [a, b]]) @ axes.T


def _other(rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The direction at right angles to `direction` in which the rows vary most."""
    direction = unit(direction)
    rest = rows - np.outer(rows @ direction, direction)
    if not len(rest) or np.abs(rest).max() < SAME:
        rest = np.eye(len(direction)) - np.outer(direction, direction)
    return np.linalg.svd(rest, full_matrices=False)[2][0]


@dataclass(frozen=True)
class FrequencyBand:
    """Pieces by their frequency in a text, from rank `first` to rank `last`. norm: mean length of their embeddings ·
    cosine: mean over all pairs of embeddings · examples: some of the pieces."""

    first: int
    last: int
    norm: float
    cosine: float
    examples: tuple[str, ...]


BANDS = (1, 100, 500, 1_000, 2_000)  # first rank of each; the last band holds the rest


def word_norms(
    bert: Bert, tokenizer: Tokenizer, texts: Sequence[str], starts: Sequence[int] = BANDS
) -> list[FrequencyBand]:
    """The pieces of the texts in bands of frequency; bands with fewer than two pieces are left out."""
    counts = Counter(i for ids in tokenizer.encode_bulk(texts) for i in ids if i not in tokenizer.special_ids)
    order = sorted(counts, key=lambda i: (-counts[i], i))
    embeddings: Any = bert.embeddings
    table = embeddings.token.weight.detach().float().cpu().numpy()
    bands = []
    for first, after in zip(starts, [*starts[1:], len(order) + 1], strict=True):
        pieces = order[first - 1 : after - 1]
        if len(pieces) > 1:
            norm = float(np.linalg.norm(table[pieces], axis=1).mean())
            examples = tuple(tokenizer.vocab[i] for i in pieces[:6])
            bands.append(FrequencyBand(first, first + len(pieces) - 1, norm, mean_cosine(table[pieces]), examples))
    return bands
