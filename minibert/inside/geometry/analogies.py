"""Analogies in the table of token embeddings: a is to b as c is to which word?

The answer is the word whose vector has the largest cosine to b − a + c, all at length 1 (3CosAdd: Mikolov, Yih and
Zweig 2013, §4; Levy and Goldberg 2014). The three given words are excluded, as is usual: otherwise the answer is mostly
one of them (Linzen 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
import torch
from torch import nn

from minibert.inside.geometry.vectors import encoder_of, unit
from minibert.tokenizer import Tokenizer

Pair = tuple[str, str]


@dataclass(frozen=True)
class WordTable:
    """The whole words of a vocabulary and their vectors, centred and at length 1, (N, H)."""

    words: tuple[str, ...]
    vectors: np.ndarray

    @cached_property
    def places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}


@torch.no_grad()
def word_table(model: nn.Module, tokenizer: Tokenizer) -> WordTable:
    """All entries of the vocabulary but special tokens, ## pieces and entries without a letter. The mean vector is
    subtracted because the embeddings lie in a narrow cone."""
    table = encoder_of(model).embeddings.get_parameter("token.weight").float().cpu().numpy()
    usable = [
        (word, number)
        for word, number in tokenizer.ids.items()
        if number not in tokenizer.special_ids and not word.startswith("##") and any(map(str.isalpha, word))
    ]
    rows = table[[number for _word, number in usable]]
    return WordTable(tuple(word for word, _number in usable), unit(rows - rows.mean(0)))


def cosines_of(table: WordTable, asked: np.ndarray, leave_out: bool) -> np.ndarray:
    """Cosine of every word to b − a + c. asked: (Q, 3), places of a, b, c → (Q, N); leave_out: −∞ for these three."""
    a, b, c = (table.vectors[column] for column in asked.T)
    cosines = unit(b - a + c) @ table.vectors.T
    if leave_out:
        np.put_along_axis(cosines, asked, -np.inf, axis=1)
    return cosines


def answers(table: WordTable, a: str, b: str, c: str, k: int, leave_out: bool = True) -> list[tuple[str, float]]:
    """The k best answers and their cosines. Raises ValueError for a word that is not in the table."""
    if missing := next((word for word in (a, b, c) if word not in table.places), None):
        raise ValueError(f"the vocabulary has no whole word {missing!r}")
    (cosines,) = cosines_of(table, np.array([[table.places[word] for word in (a, b, c)]]), leave_out)
    best = np.argsort(-cosines, kind="stable")[:k]
    return [(table.words[i], float(cosines[i])) for i in best]


def share_right(table: WordTable, pairs: Sequence[Pair], leave_out: bool = True) -> tuple[float, int]:
    """(Share whose first answer is right, how many), over every two pairs that are in the table, in both orders."""
    known = [[table.places[word] for word in pair] for pair in pairs if all(word in table.places for word in pair)]
    if len(known) < 2:
        return float("nan"), 0
    asked = np.array([[*one, *other] for one, other in permutations(known, 2)])  # (Q, 4): a, b, c and the answer
    first = cosines_of(table, asked[:, :3], leave_out).argmax(1)
    return float((first == asked[:, 3]).mean()), len(asked)
