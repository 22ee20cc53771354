"""Words like a word, by their vectors: what MacBERT puts in the place of [MASK] (Cui et al. 2020, §4.1)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from minibert.text.cooccurrence import token_vectors
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer

MOST, LEAST_COSINE = 5, 0.35
WORDS, SELDOM = 20_000, 3  # most words to know; least number of occurrences of each
READ = 4_000_000  # tokens of the text in which words are counted
Tokens = tuple[int, ...]


class SimilarWords:
    """Finds the nearest other words with as many tokens. A word's vector is the mean of its tokens' vectors."""

    def __init__(self, vectors: np.ndarray, words: Iterable[Tokens], least_cosine: float = LEAST_COSINE):
        """vectors: (V, H), a zero row for a token without one · words: the most frequent first."""
        self.least_cosine = least_cosine
        self.known: dict[int, list[Tokens]] = defaultdict(list)  # by their number of tokens
        for word in words:
            if all(vectors[token].any() for token in word):
                self.known[len(word)].append(word)
        self.vectors = vectors
        self._units: dict[int, np.ndarray] = {}
        self._near: dict[Tokens, list[Tokens]] = {}

    @classmethod
    def of_text(cls, store: TokenStore, tokenizer: Tokenizer, width: int = 64) -> SimilarWords:
        """From the text's co-occurrence counts."""
        vectors, _ = token_vectors(store, tokenizer.vocab_size, width)
        more = np.array([tokenizer.goes_on(piece) for piece in tokenizer.vocab])
        ids = store.plain(0, READ)
        goes_on = more[ids] | ((np.asarray(store.ids[:READ]) & store.top_bit) > 0 if store.segmented else False)
        places = np.flatnonzero(~goes_on).tolist()
        counted = Counter(tuple(ids[a:b].tolist()) for a, b in zip(places, [*places[1:], len(ids)], strict=True))
        fit = [
            word
            for word, count in counted.most_common(WORDS)
            if count >= SELDOM and all(any(c.isalnum() for c in tokenizer.vocab[token]) for token in word)
        ]
        return cls(vectors, fit)

    def of(self, word: Tokens) -> list[Tokens]:
        """At most MOST words, the nearest first; [] for one that has no vector, or none near it."""
        if word not in self._near:
            self._near[word] = self._look(word)
        return self._near[word]

    def _look(self, word: Tokens) -> list[Tokens]:
        known, mean = self.known.get(len(word), []), self.vectors[list(word)].mean(axis=0)
        if not known or not mean.any():
            return []
        if len(word) not in self._units:
            means = self.vectors[np.array(known)].mean(axis=1)  # (words, tokens, H) → (words, H)
            self._units[len(word)] = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        cosines = self._units[len(word)] @ (mean / np.linalg.norm(mean))
        order = np.argsort(-cosines, kind="stable")[: MOST + 1].tolist()
        return [known[i] for i in order if cosines[i] >= self.least_cosine and known[i] != word][:MOST]

    def draw(self, word: Tokens, rng: random.Random) -> Tokens | None:
        """A random one of `of(word)`; None if there is none."""
        near = self.of(word)
        return rng.choice(near) if near else None
