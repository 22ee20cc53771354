"""The activations of student and teacher: recorded by taps, averaged by word where the tokens differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import torch
from torch import Tensor

from minibert.config import BertConfig
from minibert.tokenizer import Tokenizer

LAST = ("out", "attn.query", "attn.key", "attn.value")  # what is recorded of the last layer


@dataclass
class ActivationTap:
    """A tap that records what the losses read. layers: from 1, those whose scores and outputs are recorded · last: the
    last layer, of which output, queries, keys and values are recorded."""

    layers: Sequence[int]
    last: int
    activations: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = {"embeddings.out", *(f"blocks.{self.last - 1}.{name}" for name in LAST)}
        for layer in self.layers:
            self.names |= {f"blocks.{layer - 1}.attn.scores", f"blocks.{layer - 1}.out"}

    def __call__(self, name: str, x: Tensor) -> Tensor:
        if name in self.names:
            self.activations[name] = x
        return x

    @property
    def embeddings(self) -> Tensor:
        return self.activations["embeddings.out"]  # (B, T, H)

    def hidden(self, layer: int) -> Tensor:
        return self.activations[f"blocks.{layer - 1}.out"]  # (B, T, H)

    def scores(self, layer: int) -> Tensor:
        return self.activations[f"blocks.{layer - 1}.attn.scores"]  # (B, A, T, T)

    def projection(self, name: str) -> Tensor:
        return self.activations[f"blocks.{self.last - 1}.attn.{name}"]  # (B, A, T, D)


def uniform_layers(student: BertConfig, teacher: BertConfig) -> dict[int, int]:
    """Student's layer m → the teacher's layer it learns from, m·L_T/L_S (TinyBERT, §3.1 and §4.2), rounded."""
    count, theirs = student.num_hidden_layers, teacher.num_hidden_layers
    return {m: max(1, round(m * theirs / count)) for m in range(1, count + 1)}


def word_indices(ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """For each token the index of its word, from 0; continuation pieces have the index of their first piece."""
    starts = (n == 0 or not tokenizer.goes_on(tokenizer.vocab[i]) for n, i in enumerate(ids))
    return [count - 1 for count in accumulate(starts)]


def averaging_matrix(words: Sequence[Sequence[int]], tokens: int, num_words: int) -> Tensor:
    """(B, W, T) matrices that average each word's pieces; zero rows after the last word."""
    matrix = torch.zeros(len(words), num_words, tokens)
    for row, indices in enumerate(words):
        matrix[row, indices, range(len(indices))] = 1.0
    return matrix / matrix.sum(-1, keepdim=True).clamp(min=1.0)


@dataclass(frozen=True)
class TokenAlignment:
    """The tokens of student and teacher, aligned by words. student, teacher: (B, W, T) averaging matrices, None if the
    tokens are the same · real: (B, W), the words that count: those of rows with equally many words in both (truncation
    may differ)."""

    student: Tensor | None
    teacher: Tensor | None
    real: Tensor

    @classmethod
    def of(
        cls, student: Sequence[Sequence[int]], teacher: Sequence[Sequence[int]], widths: tuple[int, int]
    ) -> TokenAlignment:
        """student, teacher: for each row the word index of each token · widths: tokens of either batch."""
        counts = [(row[-1] + 1, other[-1] + 1) for row, other in zip(student, teacher, strict=True)]
        most = max(max(both) for both in counts)
        real = torch.tensor([[word < a and a == b for word in range(most)] for a, b in counts])
        return cls(averaging_matrix(student, widths[0], most), averaging_matrix(teacher, widths[1], most), real)

    def vectors(self, student: Tensor, teacher: Tensor) -> tuple[Tensor, Tensor]:
        """(…, T, D) each → (…, W, D): a word is the mean of its pieces."""
        return pool_by_words(student, self.student), pool_by_words(teacher, self.teacher)

    def scores(self, student: Tensor, teacher: Tensor) -> tuple[Tensor, Tensor]:
        """(B, A, T, T) each → (B, A, W, W): the mean over the pieces of both words."""
        rows = self.vectors(student, teacher)
        columns = self.vectors(*(x.transpose(-1, -2) for x in rows))
        return columns[0].transpose(-1, -2), columns[1].transpose(-1, -2)


def pool_by_words(x: Tensor, matrix: Tensor | None) -> Tensor:
    """x: (B, T, D) or (B, A, T, D), matrix: (B, W, T) → the same with W instead of T."""
    if matrix is None:
        return x.float()
    matrix = matrix.to(x.device)
    return (matrix.unsqueeze(1) if x.dim() == 4 else matrix) @ x.float()
