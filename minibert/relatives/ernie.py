"""ERNIE 1.0 (Sun et al. 2019, arXiv:1904.09223, §3): the units that are masked grow in three stages: pieces, as in
BERT, then phrases, then entities. Names and fields as in transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from torch import Tensor

from minibert.config import BertConfig
from minibert.corruption import MaskVocabulary
from minibert.masking.units import Unit, draw_units, entity_units, hide_units, phrase_units
from minibert.objectives import MaskedLanguageModel
from minibert.relatives.base import Relative
from minibert.text.word_lists import between_phrases, names_in

STAGES = ("piece", "phrase", "entity")


@dataclass(frozen=True)
class ErnieConfig(BertConfig):
    model_type: ClassVar[str] = "ernie"
    fixed: ClassVar = {"use_task_id": False}  # with it the file is ERNIE 2.0's, see `relatives.config_from`


def units(stage: str, row: Sequence[int], words: Sequence[Unit], vocabulary: MaskVocabulary) -> list[Unit]:
    """The units to mask in a stage; a word that is in no phrase and no name is a unit of its own."""
    if stage == "entity":
        return entity_units(row, words, vocabulary.names)
    return phrase_units(words, lambda word: tuple(row[word[0] : word[1]]) in vocabulary.between)


@dataclass(frozen=True)
class KnowledgeMasking(MaskedLanguageModel):
    """phrases_from, entities_from: number of batches after which phrases, then entities, are masked as a whole."""

    phrases_from: float = 1_000
    entities_from: float = 2_000
    stage: str = STAGES[0]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stage not in STAGES:
            raise ValueError(f"the stage must be one of {', '.join(STAGES)}, not {self.stage!r}")

    def after(self, batches) -> Self:
        reached = STAGES[sum(batches >= start for start in (self.phrases_from, self.entities_from))]
        return self if reached == self.stage else replace(self, stage=reached)

    def vocabulary(self, store, tokenizer) -> MaskVocabulary:
        known = super().vocabulary(store, tokenizer)
        return replace(known, between=between_phrases(tokenizer), names=names_in(tokenizer))

    def hide(self, ids, special, joined, vocabulary, rng) -> tuple[Tensor, Tensor]:
        if self.stage == STAGES[0]:
            return super().hide(ids, special, joined, vocabulary, rng)

        def draw(row, words, budget, dice) -> list[Unit]:
            return draw_units(units(self.stage, row, words, vocabulary), budget, dice)

        return hide_units(ids, special, joined, vocabulary, rng, draw, self.masking.rate, self.masking.split)


RELATIVE = Relative(
    "ERNIE",
    ErnieConfig,
    about="first pieces were hidden, then phrases, then the names of entities",
    objective=KnowledgeMasking,
)
