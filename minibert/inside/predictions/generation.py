"""BERT made to write, and why it does not come naturally: it has no P(next word | words so far).

A left-to-right model's probabilities multiply to the probability of the sentence. Each of BERT's is for one blank given
all tokens that are visible; multiplied in two orders they give two different numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from minibert.inside.predictions.cloze import expectations, expectations_of_rows
from minibert.model import Batch, BertForPreTraining
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class GenerationStep:
    """One step: the input, the guesses (id, probability) for the blank, best first, and the id that fills it."""

    ids: list[int]
    position: int
    guesses: list[tuple[int, float]]
    chosen: int


def write(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    start: Sequence[int],
    count: int,
    after: Sequence[int] = (),
    *,
    blanks: int = 1,
    top: int = 5,
) -> Iterator[GenerationStep]:
    """Append [MASK] to `start`, fill it with the most probable token, and repeat, `count` times.

    start: ids without [CLS] and [SEP] · after: ids that always stand behind the blank, such as a full stop · blanks:
    [MASK]s in a row, of which the first is filled. Never chosen: special tokens, which are no words.
    """
    text = list(start)
    for _ in range(count):
        ids = [tokenizer.cls_id, *text, *[tokenizer.mask_id] * blanks, *after, tokenizer.sep_id]
        if len(ids) > model.config.longest:
            return
        position = 1 + len(text)
        probs = expectations(model, ids, [position])[0].exp()
        best = probs.topk(top + len(tokenizer.special_ids)).indices.tolist()
        guesses = [(i, probs[i].item()) for i in best if i not in tokenizer.special_ids][:top]
        yield GenerationStep(ids, position, guesses, guesses[0][0])
        text.append(guesses[0][0])


@torch.no_grad()
def go_on(model: nn.Module, ids: Sequence[int], count: int, never: Sequence[int]) -> list[tuple[int, float]]:
    """What a left-to-right model writes behind `ids`: `count` times the likeliest next token, and its probability among
    those that may be chosen. never: ids that may not, such as special tokens."""
    row, written = list(ids), []
    for _ in range(count):
        logits = model(Batch(torch.tensor([row]))).mlm_logits[0, -1]  # (V,)
        probs = logits.index_fill(0, torch.tensor(never), -math.inf).softmax(-1)
        row.append(int(probs.argmax()))
        written.append((row[-1], probs[row[-1]].item()))
    return written


def chain(model: BertForPreTraining, ids: Sequence[int], order: Sequence[int], mask_id: int) -> list[float]:
    """ln P of the token at each position of `order`: all are masked at first, then predicted and revealed one by one.
    Were these the conditionals of one distribution, their sum would be the same in every order."""
    if not order:
        return []
    rows, hidden = [], [mask_id if position in set(order) else i for position, i in enumerate(ids)]
    for position in order:
        rows.append(list(hidden))
        hidden[position] = ids[position]
    log_probs = expectations_of_rows(model, rows, order)
    return [log_probs[step, ids[position]].item() for step, position in enumerate(order)]


@dataclass(frozen=True)
class Views:
    """The probability of the word that stands at a position, under four conditions, 0 … 1."""

    shown: float  # not masked
    both: float  # [MASK] in its place, all else as it is
    left: float  # [MASK] in its place, and in that of every later word
    cut: float  # [MASK] in its place, and the sentence ends there


def views(model: BertForPreTraining, ids: Sequence[int], position: int, mask_id: int) -> Views:
    """ids with [CLS] … [SEP]; position: of the word in question."""
    head, word, tail = list(ids[:position]), ids[position], list(ids[position + 1 : -1])
    rows = (
        [*ids],
        [*head, mask_id, *tail, ids[-1]],
        [*head, mask_id, *[mask_id] * len(tail), ids[-1]],
        [*head, mask_id, ids[-1]],
    )
    return Views(*(math.exp(expectations(model, row, [position])[0, word].item()) for row in rows))
