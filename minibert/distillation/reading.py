"""The activations of two models for comparing them: recorded by taps, averaged by word where the tokens differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from minibert.config import BertConfig
from minibert.tokenizer import Tokenizer

PARTS = ("query", "key", "value")


@dataclass
class ActivationTap:
    """A tap that records what the losses need, and changes nothing. layers: those whose scores and outputs are
    recorded, from 1 · last: the last layer, of which output, queries, keys and values are recorded."""

    layers: Sequence[int] = ()
    last: int | None = None
    seen: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self):
        self.wanted = {"embeddings.out"}
        for layer in self.layers:
            self.wanted |= {f"blocks.{layer - 1}.attn.scores", f"blocks.{layer - 1}.out"}
        if self.last:
            self.wanted |= {f"blocks.{self.last - 1}.out", *(f"blocks.{self.last - 1}.attn.{part}" for part in PARTS)}

    def __call__(self, name: str, x: Tensor) -> Tensor:
        if name in self.wanted:
            self.seen[name] = x
        return x

    @property
    def embeddings(self) -> Tensor:
        return self.seen["embeddings.out"]  # (B, T, H)

    def hidden(self, layer: int) -> Tensor:
        return self.seen[f"blocks.{layer - 1}.out"]  # (B, T, H)

    def scores(self, layer: int) -> Tensor:
        return self.seen[f"blocks.{layer - 1}.attn.scores"]  # (B, A, T, T)

    def part(self, name: str) -> Tensor:
        return self.seen[f"blocks.{self.last - 1}.attn.{name}"]  # (B, A, T, D)


def uniform_layers(student: BertConfig, teacher: BertConfig) -> dict[int, int]:
    """Student's layer m → the teacher's layer it learns from, m·L_T/L_S (TinyBERT, §3.1 and §4.2), rounded."""
    count, theirs = student.num_hidden_layers, teacher.num_hidden_layers
    return {m: max(1, round(m * theirs / count)) for m in range(1, count + 1)}


def word_indices(ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """For each token the index of its word, from 0; continuation pieces have the index of their first piece."""
    numbers, at = [], -1
    for i in ids:
        at += not tokenizer.goes_on(tokenizer.vocab[i]) or at < 0
        numbers.append(at)
    return numbers


def averaging_matrix(words: Sequence[Sequence[int]], tokens: int, most: int) -> Tensor:
    """(B, W, T) matrices that average each word's pieces; zero rows after the last word."""
    matrix = torch.zeros(len(words), most, tokens)
    for row, numbers in enumerate(words):
        for token, word in enumerate(numbers):
            matrix[row, word, token] = 1.0
    return matrix / matrix.sum(-1, keepdim=True).clamp(min=1.0)


@dataclass(frozen=True)
class TokenAlignment:
    """Two models' tokens, aligned by words. ours, theirs: (B, W, T) averaging matrices, None if the tokens are the same
    · real: (B, W), the words that count: in rows with equally many words in both (truncation may differ)."""

    ours: Tensor | None
    theirs: Tensor | None
    real: Tensor

    @classmethod
    def of(
        cls, ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]], widths: tuple[int, int]
    ) -> TokenAlignment:
        """ours, theirs: for each row the word index of each token · widths: tokens of either batch."""
        counts = [(row[-1] + 1, other[-1] + 1) for row, other in zip(ours, theirs, strict=True)]
        most = max(max(both) for both in counts)
        real = torch.tensor([[word < a and a == b for word in range(most)] for a, b in counts])
        return cls(averaging_matrix(ours, widths[0], most), averaging_matrix(theirs, widths[1], most), real)

    def vectors(self, ours: Tensor, theirs: Tensor) -> tuple[Tensor, Tensor]:
        """(…, T, D) each → (…, W, D): a word is the mean of its pieces."""
        return pool_by_words(ours, self.ours), pool_by_words(theirs, self.theirs)

    def scores(self, ours: Tensor, theirs: Tensor) -> tuple[Tensor, Tensor]:
        """(B, A, T, T) each → (B, A, W, W): the mean over the pieces of both words."""
        found = []
        for x, matrix in ((ours, self.ours), (theirs, self.theirs)):
            found.append(pool_by_words(pool_by_words(x, matrix).transpose(-1, -2), matrix).transpose(-1, -2))
        return found[0], found[1]


def pool_by_words(x: Tensor, matrix: Tensor | None) -> Tensor:
    """x: (B, T, D) or (B, A, T, D), matrix: (B, W, T) → the same with W instead of T."""
    if matrix is None:
        return x.float()
    matrix = matrix.to(x.device)
    return (matrix.unsqueeze(1) if x.dim() == 4 else matrix) @ x.float()
