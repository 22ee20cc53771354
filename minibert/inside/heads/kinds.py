"""Kinds of attention heads, named by what they are measured to do (Clark et al. 2019, arXiv:1906.04341; Voita et al.
2019, arXiv:1905.09418).

For every kind there is a set of tokens that a head of that kind attends to from each position. A head's score is the
share of its attention that goes there, averaged over all positions that have such a token, in many sentences: 0 … 1.
The chance level beside it is the score of uniform attention. A high score says where a head looks, not what for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from minibert.inside.heads.arithmetic import entropy
from minibert.model import Batch, Tap
from minibert.tokenizer import CLS, SEP, Encoding, Tokenizer

PREVIOUS, NEXT, ITSELF, SAME, SEPARATOR, FIRST, ANTECEDENT, BROAD = KINDS = (
    "previous",
    "next",
    "itself",
    "same_word",
    "sep",
    "cls",
    "antecedent",
    "broad",
)


@dataclass(frozen=True)
class HeadKinds:
    """Scores of all heads. scores: (K, L, A), in the order of KINDS, NaN where no position counts · chance: (K,), the
    score of uniform attention · rows: (K,), positions counted."""

    scores: Tensor
    chance: Tensor
    rows: Tensor

    def named(self, threshold: float) -> list[list[str | None]]:
        """The kind with each head's highest score if that is at least `threshold`, else None: [layer][head]."""
        best, kind = self.scores.nan_to_num(-1.0).max(0)  # (L, A) each
        return [
            [KINDS[k] if score >= threshold else None for score, k in zip(scores, kinds, strict=True)]
            for scores, kinds in zip(best.tolist(), kind.tolist(), strict=True)
        ]

    def score(self, kind: str, layer: int, head: int) -> float:
        return self.scores[KINDS.index(kind), layer, head].item()


def targets(encoding: Encoding, antecedents: Sequence[tuple[int, int]] = ()) -> Tensor:
    """Targets of each kind but "broad": (K − 1, T, T) bool, row looks at column. Rows of special tokens are empty.

    antecedents: pairs of positions (determined token, token that determines it). "previous" and "next" are words, not
    [CLS] or [SEP]; "same word" is another token with the same id, or another piece of the same word.
    """
    size = len(encoding)
    place = torch.arange(size)
    ids = torch.tensor(encoding.ids)
    special = torch.tensor(encoding.special)
    words = torch.tensor([-1 if word is None else word for word in encoding.words])
    segments = torch.tensor(encoding.segments)
    step = place[None] - place[:, None]  # column − row
    same_word = (words[:, None] == words) & (words >= 0) & (segments[:, None] == segments)
    linked = torch.zeros(size, size, dtype=torch.bool)
    for row, column in antecedents:
        linked[row, column] = True
    tokens = encoding.tokens
    masks = {
        PREVIOUS: (step == -1) & ~special,
        NEXT: (step == 1) & ~special,
        ITSELF: step == 0,
        SAME: ((ids[:, None] == ids) | same_word) & (step != 0),
        SEPARATOR: torch.tensor([token == SEP for token in tokens]).expand(size, -1),
        FIRST: torch.tensor([token == CLS for token in tokens]).expand(size, -1),
        ANTECEDENT: linked,
    }
    return torch.stack([masks[kind] for kind in KINDS[:-1]]) & ~special[:, None]


def tally(probs: Tensor, aims: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sums over the rows of one sequence: score (K, …), chance (K,), rows (K,). probs: (…, T, T); aims: from `targets`.

    The last kind is "broad": 2^entropy / T, the effective share of the tokens that a row is spread over.
    """
    size = probs.size(-1)
    counted = aims.any(-1)  # (K − 1, T)
    shares = torch.einsum("...ij,kij->k...", probs, aims.to(probs.dtype))
    chance = aims.sum((-1, -2)) / size
    ordinary = aims[KINDS.index(ITSELF)].any(-1)  # (T,)
    spread = (2 ** entropy(probs[..., ordinary, :]) / size).sum(-1)  # (…)
    count = ordinary.sum()
    return (
        torch.cat([shares, spread[None]]),
        torch.cat([chance, count[None].to(chance.dtype)]),
        torch.cat([counted.sum(-1), count[None]]),
    )


Measured = tuple[Encoding, Sequence[tuple[int, int]]]


def sentences(tokenizer: Tokenizer, texts: Sequence[str], max_length: int) -> list[Measured]:
    """Encoded texts without antecedents; texts without tokens of their own are left out."""
    encodings = (tokenizer.encode(text, max_length=max_length) for text in texts)
    return [(encoding, ()) for encoding in encodings if not all(encoding.special)]


@torch.inference_mode()
def attentions(model: nn.Module, ids: Sequence[int], segments: Sequence[int] | None = None) -> Tensor:
    """The attention of every head over one sequence: (L, A, T, T) float32. model: a `Bert` or one in its `.bert`."""
    activations: list[Tensor] = []

    def record(name: str, x: Tensor) -> Tensor:
        if name.endswith(".attn.probs"):
            activations.append(x[0].float())
        return x

    tap: Tap = record
    bert = getattr(model, "bert", model)
    bert(Batch(torch.tensor([list(ids)]), None if segments is None else torch.tensor([list(segments)])), tap)
    return torch.stack(activations)


def measure(model: nn.Module, measured: Sequence[Measured]) -> HeadKinds:
    """Score every head on sentences from `sentences`, or with antecedents. Raises ValueError if there are none."""
    if not measured:
        raise ValueError("there is no sentence to measure the heads on")
    tallies = [
        tally(attentions(model, encoding.ids, encoding.segments), targets(encoding, pairs))
        for encoding, pairs in measured
    ]
    scores, chance, rows = (sum(part[1:], part[0]) for part in zip(*tallies, strict=True))
    scores = scores / rows[:, None, None]  # 0 / 0 is NaN: nothing was counted
    return HeadKinds(scores, chance / rows, rows)
