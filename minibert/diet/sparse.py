"""Sparse features of words, which need no pre-training: which word it is, and which letter n-grams it contains (Bunk et
al. 2020, §3)."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

LONGEST = 5  # maximum letters of an n-gram
WORD, LETTERS = "word", "letters"


def normalized(word: str) -> str:
    """Lower case, in Unicode form NFC."""
    return unicodedata.normalize("NFC", word).lower()


def n_grams(word: str, longest: int = LONGEST) -> list[str]:
    """Every string of 1 … `longest` letters of ␣word␣, in order; the spaces make beginnings and ends distinct n-grams.
    A single space is not one."""
    padded = f" {word} "
    grams = [padded[i : i + n] for n in range(1, longest + 1) for i in range(len(padded) - n + 1)]
    return [gram for gram in dict.fromkeys(grams) if gram != " "]


@dataclass(frozen=True)
class SparseFeatures:
    """An index for each known word and n-gram. Unseen ones have none: of an unknown word only its known n-grams are
    features."""

    words: tuple[str, ...]
    grams: tuple[str, ...]
    longest: int = LONGEST
    _known: dict[str, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def fit(cls, texts: Iterable[Sequence[str]], longest: int = LONGEST, at_least: int = 2) -> SparseFeatures:
        """Collect the features of training texts, given as words. at_least: number of different words that an n-gram
        must occur in; a word needs to occur once."""
        words = Counter(normalized(word) for text in texts for word in text)
        grams = Counter(gram for word in words for gram in n_grams(word, longest))
        return cls(tuple(sorted(words)), tuple(sorted(g for g, n in grams.items() if n >= at_least)), longest)

    def __len__(self) -> int:
        return len(self.words) + len(self.grams)

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """(WORD or LETTERS, the string) of each feature."""
        return [*((WORD, word) for word in self.words), *((LETTERS, gram) for gram in self.grams)]

    @cached_property
    def indices(self) -> dict[tuple[str, str], int]:
        return {name: i for i, name in enumerate(self.names)}

    def of_word(self, word: str) -> list[int]:
        """The indices of the features that are 1; all others are 0."""
        word = normalized(word)
        if word not in self._known:
            names = [(WORD, word), *((LETTERS, gram) for gram in n_grams(word, self.longest))]
            if len(self._known) > 50_000:
                self._known.clear()
            self._known[word] = [self.indices[name] for name in names if name in self.indices]
        return self._known[word]

    def of_text(self, words: Sequence[str]) -> list[list[int]]:
        """One row per word, and a last one for __CLS__, the whole text: the sum of the others."""
        rows = [self.of_word(word) for word in words]
        return [*rows, [index for row in rows for index in row]]
