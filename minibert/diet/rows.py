"""Requests as inputs of DIET, in balanced batches of growing size (Bunk et al. 2020, §4.2)."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from minibert.diet.dense import DenseFeatures
from minibert.diet.sparse import SparseFeatures, normalized
from minibert.model import IGNORE

SORTED_TOGETHER = 8  # batches whose rows are grouped by length
MOST_WORDS = 256  # words read per request: attention is quadratic
Labels = dict[str, list[str]]  # {"intents": …, "tags": …}, as `tasks.intents` has them


@dataclass(frozen=True)
class DietRow:
    """sparse: feature indices of each word, and of __CLS__ after them · dense: (words + 1, H), or None · intent: its
    index, IGNORE if unknown · tags: an index per word · names: per word, equal for equal words."""

    sparse: list[list[int]]
    dense: Tensor | None = None
    intent: int = IGNORE
    tags: tuple[int, ...] = ()
    names: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return len(self.sparse)


@dataclass(frozen=True)
class DietBatch:
    """features, starts: all feature indices in one sequence, and where those of each of the B·T positions begin ·
    dense: (B, T, H) · padding: (B, T), True for words and __CLS__, which follows them · intents: (B,) · tags: (B, T −
    1) for the words, IGNORE at padding · names: (B, T − 1), equal for equal words."""

    features: Tensor
    starts: Tensor
    padding: Tensor
    dense: Tensor | None = None
    intents: Tensor | None = None
    tags: Tensor | None = None
    names: Tensor | None = None

    def to(self, device: torch.device) -> DietBatch:
        return replace(self, **{name: x.to(device) for name, x in vars(self).items() if x is not None})

    @property
    def tokens(self) -> int:
        return int(self.padding.sum())

    @property
    def words(self) -> Tensor:
        """(B, T − 1), True at words: at real positions followed by another one."""
        return self.padding[:, 1:]


def diet_rows(
    examples: Sequence, labels: Labels, sparse: SparseFeatures | None, dense: DenseFeatures | None
) -> list[DietRow]:
    """Requests with their labels, up to MOST_WORDS words; tags that are not among the labels become index 0."""
    vectors = dense.of_texts(examples) if dense is not None else [None] * len(examples)
    intents = {name: number for number, name in enumerate(labels["intents"])}
    tags = {name: number for number, name in enumerate(labels["tags"])}
    return [
        DietRow(
            sparse.of_text(words) if sparse is not None else [[]] * (len(words) + 1),
            None if vector is None else torch.cat([vector[: len(words)], vector[-1:]]),
            intents.get(example.intent, IGNORE),
            tuple(tags.get(tag, 0) for tag in (example.tags or ())[:MOST_WORDS]),
            tuple(zlib.crc32(normalized(word).encode()) for word in words),
        )
        for example, vector in zip(examples, vectors, strict=True)
        for words in [example.words[:MOST_WORDS]]
    ]


def diet_batch(rows: Sequence[DietRow]) -> DietBatch:
    longest = max(row.length for row in rows)
    positions = [features for row in rows for features in (*row.sparse, *[[]] * (longest - row.length))]
    counts = torch.tensor([0, *map(len, positions[:-1])])
    dense = [row.dense for row in rows if row.dense is not None]

    def of_words(field: str) -> Tensor | None:
        values = [getattr(row, field) for row in rows]
        if any(len(one) != row.length - 1 for one, row in zip(values, rows, strict=True)):
            return None
        padded = [[*one, *[IGNORE] * (longest - 1 - len(one))] for one in values]
        return torch.tensor(padded, dtype=torch.long).reshape(len(rows), longest - 1)

    return DietBatch(
        torch.tensor([index for features in positions for index in features], dtype=torch.long),
        counts.cumsum(0),
        torch.arange(longest) < torch.tensor([row.length for row in rows])[:, None],
        torch.nn.utils.rnn.pad_sequence(dense, batch_first=True) if dense else None,  # (B, T, H)
        torch.tensor([row.intent for row in rows]),
        of_words("tags"),
        of_words("names"),
    )


def balanced(intents: Sequence[int], rng: random.Random) -> list[int]:
    """Indices of all examples, in an order in which every stretch has about the intent shares of the whole: the k-th of
    the n examples of an intent is placed at random in the k-th of n parts of the epoch."""
    positions: list[tuple[float, int]] = []
    for intent in sorted(set(intents)):
        indices = [i for i, other in enumerate(intents) if other == intent]
        rng.shuffle(indices)
        positions += [((k + rng.random()) / len(indices), i) for k, i in enumerate(indices)]
    return [i for _, i in sorted(positions)]


def batch_sizes(first: int, last: int, epochs: int) -> list[int]:
    """The batch size of each epoch: from the first to the last in equal steps (Smith et al. 2018)."""
    return [round(first + (last - first) * i / max(1, epochs - 1)) for i in range(epochs)]


def num_batches(rows: int, sizes: Sequence[int]) -> int:
    """Over all epochs."""
    return sum(-(-rows // size) for size in sizes)


class BalancedBatches:
    """Each epoch has all rows once, balanced, in batches of that epoch's size; within every
    SORTED_TOGETHER batches, rows are grouped by length to save padding."""

    def __init__(self, rows: Sequence[DietRow], sizes: Sequence[int], seed: int = 0):
        if not rows:
            raise ValueError("there is nothing to learn from: no request")
        self.rows, self.sizes, self.seed = list(rows), list(sizes), seed

    def __iter__(self) -> Iterator[DietBatch]:
        rng = random.Random(self.seed)
        for size in self.sizes:
            order = balanced([row.intent for row in self.rows], rng)
            for start in range(0, len(order), SORTED_TOGETHER * size):
                window = sorted(order[start : start + SORTED_TOGETHER * size], key=lambda i: self.rows[i].length)
                batches = [window[i : i + size] for i in range(0, len(window), size)]
                rng.shuffle(batches)
                for batch in batches:
                    yield diet_batch([self.rows[i] for i in batch])
