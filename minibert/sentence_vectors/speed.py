"""Seconds to compare sentences as pairs and as vectors (Reimers and Gurevych 2019, §1)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from minibert.inside.geometry.vectors import unit
from minibert.model import Bert
from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors
from minibert.text.batches import length_batches, padded, padded_batch
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class Seconds:
    """For one pair that BERT reads as [CLS] a [SEP] b [SEP], for one sentence vector, for one cosine."""

    a_pair: float
    a_vector: float
    a_cosine: float


def num_pairs(n: int) -> int:
    """n(n − 1)/2: every sentence with every other, once."""
    return n * (n - 1) // 2


@torch.no_grad()
def measure(bert: Bert, tokenizer: Tokenizer, texts: Sequence[str], pairs: int) -> Seconds:
    """Wall-clock times of embedding all texts, of all their cosines, and of reading the first `pairs` neighbours."""
    vectors = SentenceVectors(SentenceEncoder(bert).eval(), tokenizer)
    vectors.embed(texts[:32])  # warm-up
    begun = time.perf_counter()
    table = unit(vectors.embed(texts))
    embedded = time.perf_counter()
    table @ table.T
    compared = time.perf_counter()
    rows = [tokenizer.encode(a, b) for a, b in pairwise(texts[: pairs + 1])]
    for indices in length_batches([len(row) for row in rows]):
        segments = padded([rows[i].segments for i in indices], 0)
        bert(padded_batch([rows[i].ids for i in indices], tokenizer.pad_id, segments=segments))
    ended = time.perf_counter()
    n = len(texts)
    return Seconds((ended - compared) / pairs, (embedded - begun) / n, (compared - embedded) / num_pairs(n))


def search_seconds(count: int, width: int, times: int = 7) -> float:
    """Wall-clock median of `times` searches: one vector against a table (count, width), and its five best rows."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((count, width), dtype=np.float32)
    query, seconds = table[0], []
    for _ in range(times):
        begun = time.perf_counter()
        np.argpartition(table @ query, -min(5, count))
        seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds))
