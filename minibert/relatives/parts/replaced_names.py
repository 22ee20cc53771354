"""Replaced names (Xiong et al. 2020, arXiv:1912.09637): names in a text are replaced by others of the same kind, and a
network predicts for each name whether it was replaced, from the states of the two tokens beside it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.masking.units import Tokens, Unit, entity_units, word_units
from minibert.model import BERT_COMPONENTS, IGNORE, Batch, Components, PreTrainingOutput, Tap, initialize, no_tap
from minibert.objectives import PredictionStats, WithoutPairs, binary_stats, mean_or_zero, targets_of
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.text.store import TokenStore
from minibert.text.word_lists import names_in
from minibert.tokenizer import Tokenizer

Others = Mapping[Tokens, Sequence[Tokens]]  # name → names that may replace it


@dataclass(frozen=True, kw_only=True)
class NamesBatch(Batch):
    """A batch with labels of names. replaced: (B, T), at a name's first token 1 if it was replaced and 0 if it is
    original, −100 elsewhere · behind: (B, T) int64, at a name's first token the position after its last."""

    replaced: Tensor
    behind: Tensor


@dataclass(frozen=True)
class NamesOutput(PreTrainingOutput):
    """With predictions for the names, in reading order. name_logits: (N,), above 0 for a name predicted to be
    replaced."""

    name_logits: Tensor | None = None
    name_loss: Tensor | None = None

    @property
    def loss(self) -> Tensor:
        return super().loss if self.name_loss is None else super().loss + self.name_loss


class NamesLm(MaskedLm):
    """A masked LM with a second head: w · [x before the name; x behind it] + b."""

    objective_name = "mlm+names"

    def __init__(self, config: BertConfig, components: Components = BERT_COMPONENTS):
        super().__init__(config, components)
        self.names = nn.Linear(2 * config.hidden_size, 1)
        initialize(self.names, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> NamesOutput:
        x, pooled = self.bert(batch, tap)  # (B, T, H), (B, H)
        mlm = self.answer(x, pooled, batch, tap)
        if not isinstance(batch, NamesBatch):
            return NamesOutput(**vars(mlm))
        mask, targets = targets_of(batch.replaced)  # (B, T), (N,)
        row, first = mask.nonzero().T  # (N,) each
        neighbours = torch.cat([x[row, first - 1], x[row, batch.behind[mask]]], -1)  # (N, 2·H)
        logits = tap("names.logits", self.names(neighbours).squeeze(-1))  # (N,)
        loss = mean_or_zero(F.binary_cross_entropy_with_logits, logits, targets.float())
        return NamesOutput(**vars(mlm), name_logits=logits, name_loss=loss)


def others_of(names: Mapping[Tokens, str]) -> dict[Tokens, list[Tokens]]:
    """Name → other names of its kind with as many tokens, so that a row keeps its length; names without any are left
    out."""
    alike: dict[tuple[str, int], list[Tokens]] = defaultdict(list)
    for name, kind in names.items():
        alike[kind, len(name)].append(name)
    return {
        name: [other for other in group if other != name]
        for group in alike.values()
        if len(group) > 1
        for name in group
    }


def names_of(row: Sequence[int], words: Sequence[Unit], names: Collection[Tokens]) -> list[Unit]:
    """The spans of names in a row, the longest where several begin at one word."""
    return [unit for unit in entity_units(row, words, names) if tuple(row[unit[0] : unit[1]]) in names]


def draw_replaced(count: int, rate: float, rng: random.Random) -> list[bool]:
    """For each of `count` names in their order, whether it is replaced: with chance `rate`, and never two in
    succession, so that each has an original neighbour."""
    drawn: list[bool] = []
    for _ in range(count):
        drawn.append(not (drawn and drawn[-1]) and rng.random() < rate)
    return drawn


def replace_names(
    ids: Tensor, special: Tensor, goes_on: Tensor, others: Others, rng: random.Random, rate: float
) -> tuple[Tensor, Tensor, Tensor]:
    """→ (ids, replaced, behind) of a `NamesBatch`. goes_on: (B, T) bool, whether a token continues a word."""
    rows, replaced, behind = ids.tolist(), torch.full_like(ids, IGNORE), torch.zeros_like(ids)
    for number, (more, apart) in enumerate(zip(goes_on.tolist(), special.tolist(), strict=True)):
        row = rows[number]
        found = names_of(row, word_units(more, apart), others)
        for (start, end), wrong in zip(found, draw_replaced(len(found), rate, rng), strict=True):
            replaced[number, start], behind[number, start] = wrong, end
            if wrong:
                row[start:end] = rng.choice(others[tuple(row[start:end])])
    return torch.tensor(rows), replaced, behind


def inside(replaced: Tensor, behind: Tensor) -> Tensor:
    """(B, T) bool: the tokens of labelled names."""
    place, last = torch.arange(replaced.size(1)), behind.where(replaced != IGNORE, 0).cummax(dim=1).values  # (B, T)
    return place < last


def touched(hidden: Tensor, behind: Tensor) -> Tensor:
    """(B, T) bool: at a name's first token, whether any of its tokens is hidden. hidden: (B, T) bool"""
    before = F.pad(hidden.cumsum(dim=1), (1, 0))  # (B, T + 1): hidden tokens before each place
    return before.gather(1, behind) > before[:, :-1]


@dataclass(frozen=True)
class ReplacedNames(WithoutPairs):
    """L = L_names + L_MLM, in rows of one document. rate: probability that a name is replaced, if the one before was
    not · hidden: masking rate as a share of `masking.rate`, outside of names: the context that shows whether a name is
    right should stay visible · names_too: original names may be masked as well, and then have no label; in the paper
    none is · names_from: number of batches before names are predicted; until then plain masked LM · begun: whether
    they are."""

    rate: float = 0.5
    hidden: float = 1 / 3
    names_too: bool = False
    names_from: float = 0
    begun: bool = False

    single_format: ClassVar = "doc_sentences"
    counts: ClassVar = {"mlm": "masked_tokens", "names": "names"}
    name: ClassVar = "mlm+names"
    model: ClassVar = NamesLm

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("rate", "hidden"):
            if not 0 < getattr(self, field) <= 1:
                raise ValueError(f"{field} must be a share above 0, at most 1, not {getattr(self, field)}")

    def after(self, batches) -> Self:
        begun = batches >= self.names_from
        return self if begun == self.begun else replace(self, begun=begun)

    def vocabulary(self, store: TokenStore, tokenizer: Tokenizer) -> MaskVocabulary:
        """Raises ValueError if the text has no known name: there would be nothing to predict."""
        names, text = names_in(tokenizer), store.plain()
        known = others_of(names)
        starts = np.flatnonzero(np.isin(text, [name[0] for name in known])).tolist()
        sizes = {len(name) for name in known}
        if not any(tuple(text[start : start + size].tolist()) in known for start in starts for size in sizes):
            raise ValueError(
                "the text holds no name that is known (minibert/text/word_lists.py), and WKLM asks whether names are "
                "right: give it another text, or pre-train another model"
            )
        return replace(super().vocabulary(store, tokenizer), names=names)

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        if not self.begun:
            return super().corrupt(batch, special, joined, vocabulary, rng)
        dice = random.Random(int(torch.randint(2**62, (), generator=rng)))
        goes_on, others = vocabulary.continuation[batch.ids] | joined, others_of(vocabulary.names)
        ids, replaced, behind = replace_names(batch.ids, special, goes_on, others, dice, self.rate)
        spared = replaced.masked_fill(replaced == 0, IGNORE) if self.names_too else replaced
        m, apart = self.masking, special | inside(spared, behind)
        ids, labels = mask_tokens(ids, apart, vocabulary, rng, m.rate * self.hidden, m.split, m.whole_words, joined)
        replaced = replaced.masked_fill(touched(labels != IGNORE, behind), IGNORE)
        fields = vars(batch) | {"ids": ids, "labels": labels, "next_labels": None}
        return NamesBatch(**fields, replaced=replaced, behind=behind)

    def target_counts(self, batch) -> dict[str, int]:
        names = {"names": int((batch.replaced != IGNORE).sum())} if isinstance(batch, NamesBatch) else {}
        return super().target_counts(batch) | names

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        stats = super().prediction_stats(output, batch)
        if isinstance(batch, NamesBatch):
            stats["names"] = binary_stats(output.name_logits, targets_of(batch.replaced)[1], output.name_loss)
        return stats
