"""Which words a guess at a blank rests on: `attribution` of a model that has not been fine-tuned for anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from minibert.inside.attribution import Case, Word, words_of
from minibert.model import IGNORE, Batch, Tap, no_tap
from minibert.tasks.features import Features, padded
from minibert.tokenizer import Tokenizer

MASK = "[MASK]"


@dataclass(frozen=True)
class Blank(Case):
    """The token guessed at the one [MASK] of a text, against all other tokens of the vocabulary. place: of the blank.

    `predictor` has the model with its MLM head and the tokenizer, nothing else.
    """

    place: int = 0

    @classmethod
    def at(cls, model: nn.Module, tokenizer: Tokenizer, text: str, target: str | None = None) -> Blank:
        """target: a token, by default the likeliest. ValueError for an unknown one, for a text without words, and where
        there is not exactly one [MASK]."""
        encoding = tokenizer.encode(text, max_length=model.config.longest)
        blanks = [place for place, number in enumerate(encoding.ids) if number == tokenizer.mask_id]
        if len(blanks) != 1:
            raise ValueError(f"a guess needs exactly one [MASK] in the text, and there are {len(blanks)}")
        words = [word for word in (_without(word, blanks[0]) for word in words_of(encoding, [text])) if word.places]
        if not words:
            raise ValueError("there is no word to explain")
        features = Features(0, list(encoding.ids), list(encoding.segments))
        had = SimpleNamespace(model=model, tokenizer=tokenizer)
        blank = cls(had, features, encoding, tuple(words), 0, blanks[0])
        if target is not None and target not in tokenizer.ids:
            raise ValueError(f"the vocabulary has no token {target!r}")
        best = blank.likeliest(1)[0] if target is None else target
        return replace(blank, target=tokenizer.ids[best])

    @property
    def labels(self) -> Sequence[str]:
        return self.tokenizer.vocab

    def likeliest(self, count: int) -> list[str]:
        """The tokens that the model expects most at the blank."""
        labels = self.labels
        return [labels[i] for i in self.logits([self.features])[0].topk(count).indices.tolist()]

    def batch(self, rows: Sequence[Features]) -> Batch:
        """Asked at the blank: in its place, or where the closing of gaps has moved it."""
        read = padded(rows, self.tokenizer.pad_id)
        labels = torch.full_like(read["ids"], IGNORE)
        for row, features in enumerate(rows):
            whole = features.length == self.features.length
            labels[row, self.place if whole else features.ids.index(self.tokenizer.mask_id)] = 0  # any token
        return Batch(read["ids"], read["segments"], read["padding"], labels)

    def answers(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        return self.predictor.model(batch, tap).mlm_logits.float()  # one label a row: (B, V)

    def read_at(self, length: int) -> list[int]:
        return [self.place]


def _without(word: Word, place: int) -> Word:
    """The word without the blank, which is what is asked."""
    if place not in word.places:
        return word
    text = word.text.replace(MASK, "")
    return replace(word, text=text, places=tuple(other for other in word.places if other != place))
