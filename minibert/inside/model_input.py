"""A sentence or pair as model input, which can be padded, masked and reordered.

A `ModelInput` is hashable: it can be the key of a cache.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from minibert.model import Batch
from minibert.tokenizer import CLS, MASK, PAD, SEP, Tokenizer


@dataclass(frozen=True)
class ModelInput:
    """One sequence of T tokens, the last `padding` of them padding."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    pad_id: int
    mask_id: int
    padding: int = 0

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str, pair: str | None = None, max_length: int | None = None) -> ModelInput:
        """[CLS] text [SEP] (pair [SEP]), at most `max_length` tokens."""
        encoding = tokenizer.encode(text, pair, max_length=max_length)
        row = (tuple(encoding.tokens), tuple(encoding.ids), tuple(encoding.segments))
        return cls(*row, tokenizer.pad_id, tokenizer.mask_id)

    @property
    def length(self) -> int:
        """Tokens without padding."""
        return len(self.ids) - self.padding

    @property
    def words(self) -> list[int]:
        """Positions that can be masked: all but [CLS], [SEP] and padding."""
        return [i for i in range(self.length) if self.tokens[i] not in (CLS, SEP)]

    def batch(self) -> Batch:
        """ids, segments and padding mask, (1, T) each."""
        real = torch.arange(len(self.ids))[None] < self.length
        return Batch(torch.tensor([self.ids]), torch.tensor([self.segments]), real)

    def padded(self, count: int) -> ModelInput:
        """With `count` padding tokens at the end, in place of any earlier padding."""
        n = self.length
        return replace(
            self,
            tokens=(*self.tokens[:n], *[PAD] * count),
            ids=(*self.ids[:n], *[self.pad_id] * count),
            segments=(*self.segments[:n], *[0] * count),
            padding=count,
        )

    def first(self, count: int) -> ModelInput:
        """Without padding, at most `count` tokens: the last is the [SEP] of the whole."""
        keep = [*range(count - 1), self.length - 1] if count < self.length else list(range(self.length))
        tokens, ids = tuple(self.tokens[i] for i in keep), tuple(self.ids[i] for i in keep)
        segments = (*(self.segments[i] for i in keep[:-1]), self.segments[keep[-2]])
        return replace(self, tokens=tokens, ids=ids, segments=segments, padding=0)

    def hiding(self, position: int) -> ModelInput:
        """With [MASK] at a position."""
        ids, tokens = list(self.ids), list(self.tokens)
        ids[position], tokens[position] = self.mask_id, MASK
        return replace(self, ids=tuple(ids), tokens=tuple(tokens))

    def reordered(self, order: Sequence[int]) -> ModelInput:
        """The same tokens in another order: slot t gets what stood in slot order[t], with its segment."""
        tokens, ids = tuple(self.tokens[t] for t in order), tuple(self.ids[t] for t in order)
        return replace(self, tokens=tokens, ids=ids, segments=tuple(self.segments[t] for t in order))

    def new_order(self, kind: str) -> list[int]:
        """An order for `reordered`: the first segment's words "reversed", "shuffled" (always the same way), or the last
        one "swapped" with the second ("the man bit the dog"), or of only two with the first. All else stays."""
        slots = [i for i in self.words if self.segments[i] == 0]
        moved = list(slots)
        if kind == "reversed":
            moved.reverse()
        elif kind == "shuffled":
            random.Random(len(slots)).shuffle(moved)
        elif kind == "swapped":
            named = [at for at, i in enumerate(slots) if any(char.isalnum() for char in self.tokens[i])]
            if named:
                one, other = named[1 if len(named) > 2 else 0], named[-1]
                moved[one], moved[other] = moved[other], moved[one]
        else:
            raise ValueError(f'an order is "reversed", "shuffled" or "swapped", not {kind!r}')
        order = list(range(len(self.ids)))
        for slot, token in zip(slots, moved, strict=True):
            order[slot] = token
        return order
