"""BART's noises (Lewis et al. 2020, arXiv:1910.13461, §2.2): how the encoder's input is corrupted. Pure functions
(tokens, rng) → noisy tokens, each with the positions in the text that it came from."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

MASK = "[MASK]"
STOPS = frozenset(".!?。！？")


@dataclass(frozen=True)
class NoisyToken:
    """A token of the noisy text. places: of the tokens it stands for; () for a [MASK] where nothing is missing."""

    token: str
    places: tuple[int, ...]


def masked(tokens: Sequence[str], rng: random.Random, rate: float = 0.3) -> list[NoisyToken]:
    """Token masking, as in BERT: a [MASK] for a token."""
    return [NoisyToken(MASK if rng.random() < rate else token, (i,)) for i, token in enumerate(tokens)]


def deleted(tokens: Sequence[str], rng: random.Random, rate: float = 0.3) -> list[NoisyToken]:
    """Token deletion: no [MASK] shows where a token is missing."""
    return [NoisyToken(token, (i,)) for i, token in enumerate(tokens) if rng.random() >= rate]


def poisson(rng: random.Random, mean: float = 3.0) -> int:
    """A number drawn with P(k) = meanᵏ e^(−mean) / k! (Knuth's product of uniforms)."""
    count, product, limit = 0, rng.random(), exp(-mean)
    while product > limit:
        count, product = count + 1, product * rng.random()
    return count


def infilled(tokens: Sequence[str], rng: random.Random, rate: float = 0.3, mean: float = 3.0) -> list[NoisyToken]:
    """Text infilling: spans of Poisson(mean) tokens, each replaced by one [MASK], until `rate` of the tokens are gone;
    a span of length 0 puts a [MASK] where nothing is missing."""
    budget, gone = round(rate * len(tokens)), set[int]()
    spans: dict[int, int] = {}  # where a [MASK] stands → how many tokens it stands for
    tries = 0
    while len(gone) < budget and tries < 20 * len(tokens):
        tries += 1
        length = min(poisson(rng, mean), budget - len(gone))
        start = rng.randrange(len(tokens) - length + 1)
        taken = set(range(start, start + length))
        apart = {start - 1, *taken, start + length}  # two spans never touch: each is a [MASK] of its own
        if gone & apart or any(place in spans for place in range(start, start + length + 1)):
            continue
        spans[start] = length
        gone |= taken
    parts: list[NoisyToken] = []
    for i in range(len(tokens) + 1):
        if i in spans:
            parts.append(NoisyToken(MASK, tuple(range(i, i + spans[i]))))
        if i < len(tokens) and i not in gone:
            parts.append(NoisyToken(tokens[i], (i,)))
    return parts


def permuted(tokens: Sequence[str], rng: random.Random) -> list[NoisyToken]:
    """Sentence permutation: the text is cut at full stops, the sentences are shuffled."""
    sentences: list[list[NoisyToken]] = [[]]
    for i, token in enumerate(tokens):
        sentences[-1].append(NoisyToken(token, (i,)))
        if token in STOPS:
            sentences.append([])
    sentences = [sentence for sentence in sentences if sentence]
    rng.shuffle(sentences)
    return [part for sentence in sentences for part in sentence]


def rotated(tokens: Sequence[str], rng: random.Random) -> list[NoisyToken]:
    """Document rotation: the text begins at a random token and wraps around."""
    if not tokens:
        return []
    start = rng.randrange(len(tokens))
    return [NoisyToken(tokens[i % len(tokens)], (i % len(tokens),)) for i in range(start, start + len(tokens))]


def infilled_and_permuted(tokens: Sequence[str], rng: random.Random) -> list[NoisyToken]:
    """BART's final choice (§2.2 and table 1): sentences shuffled, then spans of the result replaced."""
    shuffled = permuted(tokens, rng)
    return [
        NoisyToken(part.token, tuple(place for i in part.places for place in shuffled[i].places))
        for part in infilled([part.token for part in shuffled], rng)
    ]


NOISES: dict[str, Callable[[Sequence[str], random.Random], list[NoisyToken]]] = {
    "masking": masked,
    "deletion": deleted,
    "infilling": infilled,
    "permutation": permuted,
    "rotation": rotated,
    "both": infilled_and_permuted,
}
