"""People of the toy world whose names a model was never trained on: can it tell she from he?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from minibert.model import BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.toy import lexicon

PEOPLE = (*lexicon.GIRLS, *lexicon.BOYS)
STRANGERS = (*lexicon.GIRLS[-3:], *lexicon.BOYS[-3:])
GENDERED = ("she", "he", "her", "him", "his", "herself", "himself", "girl", "boy")  # words that reveal a gender
OPPOSITE = {"she": "he", "herself": "himself", "he": "she", "himself": "herself"}  # target pronoun → its opposite


@dataclass(frozen=True)
class PronounQuestion:
    """A row of ids, the place of a pronoun in it, and whether the one person whom it names is a stranger."""

    ids: tuple[int, ...]
    place: int
    stranger: bool


def questions(rows: Sequence[Sequence[int]], tokenizer: Tokenizer) -> list[PronounQuestion]:
    """Each pronoun in OPPOSITE, from rows that name exactly one person."""
    people = {tokenizer.ids[name]: name in STRANGERS for name in PEOPLE}
    targets, selected = {tokenizer.ids[word] for word in OPPOSITE}, []
    for row in rows:
        named = set(row) & set(people)
        if len(named) == 1:
            stranger = people[named.pop()]
            selected += [
                PronounQuestion(tuple(row), place, stranger) for place, word in enumerate(row) if word in targets
            ]
    return selected


def gendered(ids: Tensor, tokenizer: Tokenizer) -> Tensor:
    """Which tokens reveal a gender. ids: (B, T) → (B, T) bool"""
    return torch.isin(ids, torch.tensor([tokenizer.ids[word] for word in GENDERED]))


def pronoun_accuracy(questions: Sequence[PronounQuestion], logits: Tensor, tokenizer: Tokenizer) -> dict[str, float]:
    """`strangers`, `friends`: the share of questions about strangers, and about all others, whose pronoun has a higher
    logit than its OPPOSITE; 0.5 is guessing. logits: (questions, V)"""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for one, row in zip(questions, logits, strict=True):
        own = one.ids[one.place]
        right[one.stranger].append(bool(row[own] > row[tokenizer.ids[OPPOSITE[tokenizer.vocab[own]]]]))
    return {name: sum(right[who]) / max(1, len(right[who])) for name, who in (("strangers", True), ("friends", False))}


@torch.no_grad()
def reset_names(model: BertForPreTraining, tokenizer: Tokenizer) -> None:
    """Reset the names to untrained: random vectors as at initialization, and no bias in the decoder."""
    words, rng = [tokenizer.ids[name] for name in PEOPLE], torch.Generator().manual_seed(0)
    weight = model.bert.embeddings.get_parameter("token.weight")
    weight[words] = model.config.initializer_range * torch.randn(len(words), weight.size(1), generator=rng)
    model.mlm.decoder.bias[words] = 0.0
