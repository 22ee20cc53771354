"""MacBERT (Cui et al. 2020, arXiv:2004.13922, §4): n-grams of whole words are replaced by similar words, not by
[MASK], which no task has. Sentence-order instead of next-sentence prediction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor

from minibert.config import BertConfig
from minibert.corruption import MaskVocabulary
from minibert.count import Shape
from minibert.masking.similar_words import SimilarWords
from minibert.masking.units import Unit, draw_runs, hide_units
from minibert.objectives import MaskedLanguageModel
from minibert.relatives.base import Relative

LENGTHS, SHARES = (1, 2, 3, 4), (0.4, 0.3, 0.2, 0.1)  # words of an n-gram


@dataclass(frozen=True)
class MacBertConfig(BertConfig):
    model_type: ClassVar[str] = "macbert"


def draw_ngrams(words: Sequence[Unit], budget: int, rng: random.Random) -> list[Unit]:
    """The words of n-grams, n from 1 to 4, until the budget is full."""
    return [word for run in draw_runs(words, budget, lambda: rng.choices(LENGTHS, SHARES)[0], rng) for word in run]


@dataclass(frozen=True)
class MlmAsCorrection(MaskedLanguageModel):
    """A masked LM that reads similar words where BERT reads [MASK]; each word of an n-gram is replaced on its own.
    similar: False, an ablation, uses [MASK]."""

    second: str | None = "sop"
    similar: bool = True

    @property
    def name(self) -> str:
        return super().name.replace("mlm", "mac") if self.similar else super().name  # it has never read a [MASK]

    def vocabulary(self, store, tokenizer) -> MaskVocabulary:
        known = super().vocabulary(store, tokenizer)
        return replace(known, similar=SimilarWords.of_text(store, tokenizer)) if self.similar else known

    def hide(self, ids, special, joined, vocabulary, rng) -> tuple[Tensor, Tensor]:
        m, draw = self.masking, lambda row, words, budget, dice: draw_ngrams(words, budget, dice)
        similar = vocabulary.similar.draw if vocabulary.similar else None
        return hide_units(ids, special, joined, vocabulary, rng, draw, m.rate, m.split, similar)


RELATIVE = Relative(
    "MacBERT",
    MacBertConfig,
    prefix="MacBert",
    encoder="bert",
    in_transformers=False,  # a BERT there
    about="similar words stood in the place of hidden ones, so it has never read [MASK]",
    objective=MlmAsCorrection,
    shape=lambda c: Shape(c, objective="mlm+sop"),
)
