"""Dense features: a frozen encoder's vector of each word (Bunk et al. 2020, §3). They never change, so each text is
encoded once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from minibert.inside.geometry.vectors import encoder_of
from minibert.model import Batch, Bert
from minibert.tasks.tagging import pieces_of
from minibert.tokenizer import Tokenizer

ROWS = 64  # texts per batch


class DenseFeatures:
    """An encoder and its tokenizer. Not an nn.Module, so its weights are no parameters of the model that holds it."""

    def __init__(self, bert: nn.Module, tokenizer: Tokenizer):
        self.bert: Bert = encoder_of(bert).eval()
        self.tokenizer = tokenizer

    @property
    def size(self) -> int:
        return self.bert.config.hidden_size

    @torch.no_grad()
    def of_texts(self, examples: Sequence) -> list[Tensor]:
        """examples: with `words`. For each (words + 1, H): a word's vector is the mean over its pieces in the last
        block; the last row, __CLS__, is the vector of [CLS]. Words beyond the encoder's positions are zero."""
        room = self.bert.config.longest - 2
        pieces = pieces_of(self.tokenizer, examples)
        order = sorted(range(len(examples)), key=lambda i: sum(map(len, pieces[i])))
        result: list[Tensor] = [torch.empty(0)] * len(examples)
        device = next(self.bert.parameters()).device
        for start in range(0, len(order), ROWS):
            chosen = order[start : start + ROWS]
            rows = [[piece for word in pieces[i] for piece in word][:room] for i in chosen]
            width = max(map(len, rows)) + 2
            ids = torch.full((len(rows), width), self.tokenizer.pad_id)
            for row, read in zip(ids, rows, strict=True):
                row[: len(read) + 2] = torch.tensor([self.tokenizer.cls_id, *read, self.tokenizer.sep_id])
            real = torch.arange(width) < torch.tensor([len(read) + 2 for read in rows])[:, None]
            hidden = self.bert(Batch(ids, torch.zeros_like(ids), real).to(device))[0].float().cpu()  # (B, T, H)
            for x, i, read in zip(hidden, chosen, rows, strict=True):
                result[i] = torch.stack([*words_of(x, [len(word) for word in pieces[i]], len(read)), x[0]])
        return result


def words_of(x: Tensor, lengths: Sequence[int], read: int) -> list[Tensor]:
    """The mean of each word's pieces. x: (T, H), [CLS] first · lengths: pieces per word · read: pieces that fit."""
    means, place = [], 0
    for length in lengths:
        end = min(place + length, read)
        means.append(x[1 + place : 1 + end].mean(0) if place < end else torch.zeros(x.size(1)))
        place += length
    return means
