"""Dense features: a frozen encoder's vector of each word (Bunk et al. 2020, §3). They never change, so each text is
encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.inside.geometry.vectors import encoder_of
from minibert.model import Bert
from minibert.tasks.tagging import pieces_of
from minibert.text.batches import length_batches, padded_batch
from minibert.tokenizer import Tokenizer


class DenseFeatures:
    """An encoder and its tokenizer. Not an nn.Module, so its weights are no parameters of the model that holds it."""

    def __init__(self, bert: nn.Module, tokenizer: Tokenizer):
        self.bert: Bert = encoder_of(bert).eval()
        self.tokenizer = tokenizer

    @classmethod
    def from_directory(cls, directory: str | Path) -> DenseFeatures:
        """The frozen encoder of a checkpoint."""
        return cls(checkpoint.load(directory), checkpoint.load_tokenizer(directory))

    @property
    def size(self) -> int:
        return self.bert.config.hidden_size

    @torch.no_grad()
    def of_texts(self, examples: Sequence) -> list[Tensor]:
        """examples: with `words`. For each (words + 1, H): a word's vector is the mean over its pieces in the last
        block; the last row, __CLS__, is the vector of [CLS]. Words beyond the encoder's positions are zero."""
        room = self.bert.config.longest - 2
        pieces = pieces_of(self.tokenizer, examples)
        cls, sep = self.tokenizer.cls_id, self.tokenizer.sep_id
        rows = [[cls, *[piece for word in words for piece in word][:room], sep] for words in pieces]
        vectors: list[Tensor] = [torch.empty(0)] * len(examples)
        device = next(self.bert.parameters()).device
        for indices in length_batches([len(row) for row in rows]):
            batch = padded_batch([rows[i] for i in indices], self.tokenizer.pad_id).to(device)
            hidden = self.bert(batch)[0].float().cpu()  # (B, T, H)
            for x, i in zip(hidden, indices, strict=True):
                vectors[i] = torch.stack([*word_means(x, [len(word) for word in pieces[i]], len(rows[i]) - 2), x[0]])
        return vectors


def word_means(x: Tensor, lengths: Sequence[int], num_pieces: int) -> list[Tensor]:
    """The mean of each word's pieces. x: (T, H), [CLS] first · lengths: pieces per word · num_pieces: read ones."""
    means, start = [], 0
    for length in lengths:
        end = min(start + length, num_pieces)
        means.append(x[1 + start : 1 + end].mean(0) if start < end else torch.zeros(x.size(1)))
        start += length
    return means
