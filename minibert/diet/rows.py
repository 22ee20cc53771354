"""Requests as DIET reads them, and batches that are balanced and grow (Bunk et al. 2020, §4.2)."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from minibert.diet.dense import DenseFeatures
from minibert.diet.sparse import SparseFeatures, plain
from minibert.tasks.tagging import IGNORED

TOGETHER = 8
MOST_WORDS = 256  # of a request that are read: attention compares each with each
Labels = dict[str, list[str]]  # {"intents": …, "tags": …}, as `tasks.intents` has them


@dataclass(frozen=True)
class DietRow:
    """sparse: numbers of features, of each word and of __CLS__ behind them · dense: (words + 1, H), or None · intent:
    its number, IGNORED if unknown · tags: a number a word · names: of each word, the same for the same word."""

    sparse: list[list[int]]
    dense: Tensor | None = None
    intent: int = IGNORED
    tags: tuple[int, ...] = ()
    names: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return len(self.sparse)


@dataclass(frozen=True)
class DietBatch:
    """features, starts: all rows' numbers of features one after the other, and where those of each of the B·T places
    begin · dense: (B, T, H) · padding: (B, T), True for words and __CLS__, which is the last of them · intents: (B,) ·
    tags: (B, T − 1) of the words, IGNORED behind them · names: (B, T − 1), which words are the same."""

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
        """(B, T − 1), True where there is a word: a place is one if there is another behind it."""
        return self.padding[:, 1:]


def rows_of(
    examples: Sequence, labels: Labels, sparse: SparseFeatures | None, dense: DenseFeatures | None
) -> list[DietRow]:
    """Requests with what is known of them, as far as they are read; an entity of a kind that is not among the labels
    is none."""
    vectors = dense.of_texts(examples) if dense is not None else [None] * len(examples)
    intents = {name: number for number, name in enumerate(labels["intents"])}
    tags = {name: number for number, name in enumerate(labels["tags"])}
    return [
        DietRow(
            sparse.of_text(words) if sparse is not None else [[]] * (len(words) + 1),
            None if vector is None else torch.cat([vector[: len(words)], vector[-1:]]),
            intents.get(example.intent, IGNORED),
            tuple(tags.get(tag, 0) for tag in (example.tags or ())[:MOST_WORDS]),
            tuple(zlib.crc32(plain(word).encode()) for word in words),
        )
        for example, vector in zip(examples, vectors, strict=True)
        for words in [example.words[:MOST_WORDS]]
    ]


def batch_of(rows: Sequence[DietRow]) -> DietBatch:
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
        filled = [[*one, *[IGNORED] * (longest - 1 - len(one))] for one in values]
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
    """Numbers of all examples in an order in which every stretch holds the intents in about the shares they have of the
    whole: an example of the k of an intent stands somewhere in its k-th part of the epoch."""
    places: list[tuple[float, int]] = []
    for intent in sorted(set(intents)):
        numbers = [i for i, one in enumerate(intents) if one == intent]
        rng.shuffle(numbers)
        places += [((k + rng.random()) / len(numbers), i) for k, i in enumerate(numbers)]
    return [i for _, i in sorted(places)]


def batch_sizes(first: int, last: int, epochs: int) -> list[int]:
    """Of each epoch: from the first to the last in equal steps (Smith et al. 2018)."""
    return [round(first + (last - first) * i / max(1, epochs - 1)) for i in range(epochs)]


def steps_of(rows: int, sizes: Sequence[int]) -> int:
    """Batches of all epochs."""
    return sum(-(-rows // size) for size in sizes)


class BalancedBatches:
    """Every epoch all rows once, balanced, in batches of that epoch's size; of every TOGETHER batches that follow each
    other, rows of like length share one, which spares the padding."""

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
                    yield batch_of([self.rows[i] for i in batch])
