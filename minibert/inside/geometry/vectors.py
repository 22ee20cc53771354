"""The vectors a model gives to words and sentences at every layer, and what the angles between them say.

Shapes: L + 1 layers, the first being the output of the embeddings; N texts, words or rows; H numbers each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from minibert.heads import POOLINGS, every_layer, pooled
from minibert.model import Batch, Bert
from minibert.tokenizer import Encoding, Tokenizer
from minibert.training.statistics import rank_correlation

ROWS = 32  # texts per batch
Span = tuple[int, int]


def encoder_of(model: Any) -> Bert:
    """The encoder inside any of our models."""
    return model if isinstance(model, Bert) else model.bert


@torch.no_grad()
def read(
    model: nn.Module, tokenizer: Tokenizer, texts: Sequence[str]
) -> Iterator[tuple[list[int], list[Encoding], list[torch.Tensor], torch.Tensor]]:
    """The texts in groups of like length: (their numbers, encodings, L + 1 layers of (B, T, H), padding (B, T)).

    A text longer than the model's positions loses its end.
    """
    bert = encoder_of(model)
    device = next(bert.parameters()).device
    room = bert.config.longest
    encodings = [tokenizer.encode(text, max_length=room, truncation="head") for text in texts]
    order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
    for start in range(0, len(order), ROWS):
        numbers = order[start : start + ROWS]
        group = [encodings[i] for i in numbers]
        longest = max(map(len, group))
        ids = torch.tensor([row.ids + [tokenizer.pad_id] * (longest - len(row)) for row in group])
        padding = torch.arange(longest) < torch.tensor([len(row) for row in group])[:, None]
        batch = Batch(ids, torch.zeros_like(ids), padding).to(device)
        yield numbers, group, every_layer(bert, batch), padding.to(device)


def sentence_vectors(
    model: nn.Module, tokenizer: Tokenizer, texts: Sequence[str], poolings: Sequence[str] = POOLINGS
) -> dict[str, np.ndarray]:
    """Each pooling's vectors of the texts, (L + 1, N, H) float32: "cls" the vector of [CLS], "mean" and "max" over all
    real tokens with [CLS] and [SEP], as the task heads pool (Reimers and Gurevych 2019, §3)."""
    layers, hidden = shape_of(model)
    result = {name: np.zeros((layers, len(texts), hidden), np.float32) for name in poolings}
    for numbers, _, every, padding in read(model, tokenizer, texts):
        for layer, x in enumerate(every):
            for name in poolings:
                result[name][layer, numbers] = pooled(x, padding, name).float().cpu().numpy()
    return result


def span_vectors(
    model: nn.Module, tokenizer: Tokenizer, texts: Sequence[str], spans: Sequence[Sequence[Span]]
) -> np.ndarray:
    """The vectors of spans of the texts, (L + 1, N, H) float32: the mean over the tokens that overlap characters
    start … end. spans: any number for each text; N counts them all, in order.

    NaN where no token of a span was read: it was cut off, or the tokenizer drops all its characters.
    """
    layers, hidden = shape_of(model)
    firsts = np.cumsum([0, *map(len, spans)])
    result = np.full((layers, int(firsts[-1]), hidden), np.nan, np.float32)
    for numbers, group, every, _ in read(model, tokenizer, texts):
        for row, (number, encoding) in enumerate(zip(numbers, group, strict=True)):
            for place, (start, end) in enumerate(spans[number], firsts[number]):
                tokens = [i for i, (a, b) in enumerate(encoding.offsets) if a < end and start < b]
                for layer, x in enumerate(every if tokens else ()):
                    result[layer, place] = x[row, tokens].mean(0).float().cpu().numpy()
    return result


def joined(words: Sequence[str]) -> tuple[str, list[Span]]:
    """The words with spaces between them, and each word's span."""
    ends = np.cumsum([len(word) + 1 for word in words])
    return " ".join(words), [(int(end) - 1 - len(word), int(end) - 1) for word, end in zip(words, ends, strict=True)]


def shape_of(model: nn.Module) -> tuple[int, int]:
    """(L + 1, H)."""
    config = encoder_of(model).config
    return config.num_hidden_layers + 1, config.hidden_size


# --- angles -----------------------------------------------------------------------------------------------------------


def unit(vectors: np.ndarray) -> np.ndarray:
    """The vectors, (…, H), at length 1; a zero vector stays zero."""
    vectors = np.asarray(vectors, np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(float).tiny)


def cosines(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine of row i of one with row i of the other, (…, N, H) each → (…, N)."""
    return (unit(vectors) * unit(others)).sum(-1)


def cosine_matrix(vectors: np.ndarray) -> np.ndarray:
    """Cosine of every row with every row: (N, H) → (N, N); 1 on the diagonal, 0 for a zero vector."""
    rows = unit(vectors)
    return rows @ rows.T


def closest_pair(similar: np.ndarray) -> tuple[int, int]:
    """The two different rows i < j with the largest entry of a symmetric (N, N), N ≥ 2; the first of several."""
    above = np.where(np.triu(np.ones_like(similar, bool), 1), similar, -np.inf)
    i, j = np.unravel_index(int(above.argmax()), above.shape)
    return int(i), int(j)


def mean_cosine(vectors: np.ndarray) -> float:
    """The mean cosine over all pairs of different rows of (N, H), N ≥ 2: near 0 where directions are spread evenly,
    near 1 where all vectors point the same way (Ethayarajh 2019, §3.4)."""
    count = len(vectors)
    if count < 2:
        raise ValueError("a pair needs two vectors")
    rows = unit(vectors)
    total = rows.sum(0)
    return float((total @ total - (rows * rows).sum()) / (count * (count - 1)))


@dataclass(frozen=True)
class Anisotropy:
    """One layer. plain, centred: the mean cosine of all pairs, as they are and after the mean vector is subtracted ·
    strongest: the share of the squared length of all vectors that lies along their first singular direction."""

    plain: float
    centred: float
    strongest: float


def anisotropy(vectors: np.ndarray) -> Anisotropy:
    """How far the vectors (N, H) are from spreading evenly over all directions."""
    vectors = np.asarray(vectors, np.float64)
    strengths = np.linalg.svd(vectors, compute_uv=False) ** 2
    strongest = float(strengths[0] / max(strengths.sum(), np.finfo(float).tiny))
    return Anisotropy(mean_cosine(vectors), mean_cosine(vectors - vectors.mean(0)), strongest)


@dataclass(frozen=True)
class Separability:
    """How well labels can be told apart from where the vectors lie. silhouette: −1 … 1 · nearest: the share whose
    nearest other vector has the same label · chance: that share if neighbours were drawn at random."""

    silhouette: float
    nearest: float
    chance: float


def nearest_alike(vectors: np.ndarray, labels: Sequence) -> np.ndarray:
    """(N,) bool: whether the nearest other row of (N, H), by cosine, has the same label."""
    _, numbers = np.unique(list(labels), return_inverse=True)
    similar = cosine_matrix(vectors)
    np.fill_diagonal(similar, -np.inf)
    return numbers[similar.argmax(1)] == numbers


def separability(vectors: np.ndarray, labels: Sequence[str]) -> Separability:
    """By cosine distance: the mean silhouette (Rousseeuw 1987) and the accuracy of 1-nearest-neighbour with each vector
    left out in turn. vectors: (N, H) with at least two labels, and one of them at least twice; else ValueError."""
    from sklearn.metrics import silhouette_score

    names, numbers, counts = np.unique(list(labels), return_inverse=True, return_counts=True)
    if len(names) < 2 or len(names) == len(numbers):
        raise ValueError("there is nothing to tell apart: two labels are needed, one of them twice")
    nearest = float(nearest_alike(vectors, labels).mean())
    chance = float((counts * (counts - 1)).sum() / (len(numbers) * (len(numbers) - 1)))
    return Separability(float(silhouette_score(unit(vectors), numbers, metric="cosine")), nearest, chance)


def nearest(vectors: np.ndarray, query: np.ndarray, k: int, leave_out: int | None = None) -> list[tuple[int, float]]:
    """The k rows of (N, H) with the largest cosine to `query` (H,), the largest first, without row `leave_out`."""
    similar = unit(vectors) @ unit(query)
    if leave_out is not None:
        similar[leave_out] = -np.inf
    best = np.argsort(-similar, kind="stable")[: min(k, len(similar) - (leave_out is not None))]
    return [(int(i), float(similar[i])) for i in best]


@torch.no_grad()
def nearest_tokens(model: nn.Module, tokenizer: Tokenizer, vector: np.ndarray, k: int) -> list[tuple[str, float]]:
    """The k entries of the vocabulary whose token embeddings have the largest cosine to `vector` (H,): how much a layer
    keeps of the token's identity. The mean of all token embeddings is subtracted from them first."""
    table = encoder_of(model).embeddings.get_parameter("token.weight").float().cpu().numpy()
    usable = np.array([i for i in tokenizer.ids.values() if i not in tokenizer.special_ids])
    rows = table[usable] - table[usable].mean(0)
    return [(tokenizer.vocab[int(usable[i])], cosine) for i, cosine in nearest(rows, vector, k)]


def agreement(left: np.ndarray, right: np.ndarray, scores: Sequence[float], centre: bool = False) -> list[float]:
    """Per layer, Spearman's correlation of the pairs' cosines with human similarity scores (Agirre et al. 2012 and
    after). left, right: (L + 1, N, H) · scores: N · centre: subtract the layer's mean vector first. 0 where all cosines
    are the same."""
    result = []
    for a, b in zip(left, right, strict=True):
        middle = np.concatenate([a, b]).mean(0) if centre else 0.0
        said = cosines(a - middle, b - middle)
        result.append(rank_correlation(said, scores) if np.ptp(said) > 0 else 0.0)
    return result


def word_overlap(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[float]:
    """The share of the words of a pair that both have (Jaccard): the baseline for a cosine of sentences."""
    sets = ((set(a), set(b)) for a, b in pairs)
    return [len(a & b) / max(len(a | b), 1) for a, b in sets]


def mean_over(values: Mapping[str, Sequence[float]]) -> list[float]:
    """The elementwise mean of equally long rows."""
    return np.mean(list(values.values()), axis=0).tolist()
