"""Attribution of a prediction at a [MASK]: which words it depends on. For models that are not fine-tuned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from minibert.inside.explanations.attribution import Case, WordSpan, words_of
from minibert.model import IGNORE, Batch, Tap, no_tap
from minibert.tasks.features import Features, padded
from minibert.tokenizer import Tokenizer

MASK = "[MASK]"


@dataclass(frozen=True)
class AttributedBlank(Case):
    """A token predicted at the only [MASK] of a text, against the rest of the vocabulary. place: of the [MASK].

    `predictor` has only `model` (with its MLM head) and `tokenizer`.
    """

    place: int = 0

    @classmethod
    def at(cls, model: Any, tokenizer: Tokenizer, text: str, target: str | None = None) -> AttributedBlank:
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
        had: Any = SimpleNamespace(model=model, tokenizer=tokenizer)
        blank = cls(had, features, encoding, tuple(words), 0, blanks[0])
        if target is not None and target not in tokenizer.ids:
            raise ValueError(f"the vocabulary has no token {target!r}")
        best = blank.likeliest(1)[0] if target is None else target
        return replace(blank, target=tokenizer.ids[best])

    @property
    def labels(self) -> Sequence[str]:
        return self.tokenizer.vocab

    def likeliest(self, count: int) -> list[str]:
        """The `count` most probable tokens at the [MASK], best first."""
        labels = self.labels
        return [labels[i] for i in self.logits([self.features])[0].topk(count).indices.tolist()]

    def batch(self, rows: Sequence[Features]) -> Batch:
        """Labels at the [MASK] only: at `place`, or where it has moved because words before it were cut."""
        read = padded(rows, self.tokenizer.pad_id)
        labels = torch.full_like(read["ids"], IGNORE)
        for row, features in enumerate(rows):
            whole = features.length == self.features.length
            labels[row, self.place if whole else features.ids.index(self.tokenizer.mask_id)] = 0  # any id: marks it
        return Batch(read["ids"], read["segments"], read["padding"], labels)

    def answers(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        return self.predictor.model(batch, tap).mlm_logits.float()  # one label a row: (B, V)

    def read_at(self, length: int) -> list[int]:
        return [self.place]


def _without(word: WordSpan, place: int) -> WordSpan:
    """The word without its [MASK], which is the target and cannot explain itself."""
    if place not in word.places:
        return word
    text = word.text.replace(MASK, "")
    return replace(word, text=text, places=tuple(other for other in word.places if other != place))
