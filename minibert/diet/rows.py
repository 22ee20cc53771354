"""Requests as inputs of DIET, in balanced batches of growing size (Bunk et al. 2020, §4.2)."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from minibert.diet.dense import DenseFeatures
from minibert.diet.sparse import SparseFeatures, plain
from minibert.model import IGNORE

TOGETHER = 8
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

    def to(self, device) -> DietBatch:
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
            tuple(zlib.crc32(plain(word).encode()) for word in words),
        )
        for example, vector in zip(examples, vectors, strict=True)
        for words in [example.words[:MOST_WORDS]]
    ]


def diet_batch(rows: Sequence[DietRow]) -> DietBatch:
    longest = max(row.length for row in rows)
    places = [place for row in rows for place in (*row.sparse, *[[]] * (longest - row.length))]
    counts = torch.tensor([0, *map(len, places[:-1])])
    dense = None
    if rows[0].dense is not None:
        dense = torch.nn.utils.rnn.pad_sequence([row.dense for row in rows], batch_first=True)  # (B, T, H)

    def of_words(field: str) -> Tensor | None:
        values = [getattr(row, field) for row in rows]
        if any(len(one) != row.length - 1 for one, row in zip(values, rows, strict=True)):
            return None
        filled = [[*one, *[IGNORE] * (longest - 1 - len(one))] for one in values]
        return torch.tensor(filled, dtype=torch.long).reshape(len(rows), longest - 1)

    return DietBatch(
        torch.tensor([number for place in places for number in place], dtype=torch.long),
        counts.cumsum(0),
        torch.arange(longest) < torch.tensor([row.length for row in rows])[:, None],
        dense,
        torch.tensor([row.intent for row in rows]),
        of_words("tags"),
        of_words("names"),
    )


def balanced(intents: Sequence[int], rng: random.Random) -> list[int]:
    """Indices of all examples, in an order in which every stretch has about the intent shares of the whole: the k-th of
    the n examples of an intent is placed at random in the k-th of n parts of the epoch."""
    places: list[tuple[float, int]] = []
    for intent in sorted(set(intents)):
        numbers = [i for i, one in enumerate(intents) if one == intent]
        rng.shuffle(numbers)
        places += [((k + rng.random()) / len(numbers), i) for k, i in enumerate(numbers)]
    return [i for _, i in sorted(places)]


def batch_sizes(first: int, last: int, epochs: int) -> list[int]:
    """The batch size of each epoch: from the first to the last in equal steps (Smith et al. 2018)."""
    return [round(first + (last - first) * i / max(1, epochs - 1)) for i in range(epochs)]


def num_batches(rows: int, sizes: Sequence[int]) -> int:
    """The number of batches in all epochs."""
    return sum(-(-rows // size) for size in sizes)


class BalancedBatches:
    """Each epoch has all rows once, balanced, in batches of that epoch's size; within every TOGETHER consecutive
    batches, rows are grouped by length to save padding."""

    def __init__(self, rows: Sequence[DietRow], sizes: Sequence[int], seed: int = 0):
        if not rows:
            raise ValueError("there is nothing to learn from: no request")
        self.rows, self.sizes, self.seed = list(rows), list(sizes), seed

    def __iter__(self) -> Iterator[DietBatch]:
        rng = random.Random(self.seed)
        for size in self.sizes:
            order = balanced([row.intent for row in self.rows], rng)
            for start in range(0, len(order), TOGETHER * size):
                stretch = sorted(order[start : start + TOGETHER * size], key=lambda i: self.rows[i].length)
                batches = [stretch[i : i + size] for i in range(0, len(stretch), size)]
                rng.shuffle(batches)
                for batch in batches:
                    yield diet_batch([self.rows[i] for i in batch])
