"""The logit lens: what each layer would answer, if the model's head for masked words read it instead of the last one.

From nostalgebraist (2020, "interpreting GPT: the logit lens"); here on the MLM head. It was trained on the last layer
only, so an earlier layer that predicts badly may hold the word in another form.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from minibert.heads import every_layer
from minibert.inside.predictions.cloze import rank
from minibert.model import Batch, BertForPreTraining
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class LayerAnswer:
    """One layer's prediction at one position. guesses: (token, probability), best first · rank, probability: of the
    target token, rank 1 being the most probable; None without a target."""

    guesses: list[tuple[str, float]]
    rank: int | None = None
    probability: float | None = None


@torch.no_grad()
def layer_log_probs(model: BertForPreTraining, ids: list[int], position: int) -> torch.Tensor:
    """(L + 1, V) float64: the MLM head's natural log-probabilities at `position`, read from every layer. The last row
    is what the model answers."""
    every = every_layer(model.bert, Batch(torch.tensor([ids])))  # L + 1 of (1, T, H)
    return F.log_softmax(model.mlm(torch.stack([x[0, position] for x in every])).double(), dim=-1)


def layer_answers(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    ids: list[int],
    position: int,
    wanted: int | None = None,
    k: int = 5,
) -> list[LayerAnswer]:
    """What every layer answers at `position`; wanted: the id of the right token, if there is one."""
    answers = []
    for log_probs in layer_log_probs(model, ids, position):
        best = log_probs.topk(min(k, len(log_probs)))
        guesses = [
            (tokenizer.vocab[i], float(p.exp())) for p, i in zip(best.values, best.indices.tolist(), strict=True)
        ]
        asked = () if wanted is None else (rank(log_probs, wanted), float(log_probs[wanted].exp()))
        answers.append(LayerAnswer(guesses, *asked))
    return answers


def only_token(tokenizer: Tokenizer, word: str) -> int | None:
    """The id of a word that is one token of the vocabulary; None for any other text."""
    ids = tokenizer.encode(word, add_special=False).ids
    return ids[0] if len(ids) == 1 and ids[0] not in tokenizer.special_ids else None


def blank_of(tokenizer: Tokenizer, text: str, room: int) -> tuple[list[int], int] | None:
    """The ids of a sentence and the position of its first [MASK]; None if there is none within `room` tokens."""
    ids = tokenizer.encode(text, max_length=room, truncation="head").ids
    return (ids, ids.index(tokenizer.mask_id)) if tokenizer.mask_id in ids else None


def ranks_over_layers(
    model: BertForPreTraining, tokenizer: Tokenizer, questions: list[tuple[str, str]]
) -> list[list[int]]:
    """For each (sentence with a [MASK], right word), the rank of the word at every layer; questions whose word is not
    one token of the vocabulary are left out."""
    rows = []
    for text, word in questions:
        blank, wanted = blank_of(tokenizer, text, model.config.longest), only_token(tokenizer, word)
        if blank is not None and wanted is not None:
            rows.append([rank(log_probs, wanted) for log_probs in layer_log_probs(model, *blank)])
    return rows
