"""One word of a text hidden, as one model sees it: what it expects there, and where it looks from there.

The word is hidden whole, as one [MASK], however many pieces a vocabulary makes of it: so models with different
vocabularies are asked the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from minibert.inside.cloze import expectations
from minibert.inside.head_kinds import attentions
from minibert.model import BertForPreTraining
from minibert.tokenizer import MASK, Tokenizer

Span = tuple[int, int]
EVEN = 1.5  # times the share of a token in even attention: below that, no token stands out


@dataclass(frozen=True)
class OneBlank:
    """guesses: the likeliest pieces and their probabilities, the likeliest first · weights: how much of its
    attention from the blank that head of the last layer which looks there most gives to [CLS], to each word (the sum of
    its pieces) and to [SEP] · even: no head gives a token much more than another · unknown: share of the words that
    became [UNK]."""

    guesses: tuple[tuple[str, float], ...]
    weights: tuple[float, ...]
    even: bool
    unknown: float


def hide(text: str, word: Span) -> str:
    """The text with [MASK] in the place of a word."""
    start, end = word
    return text[:start] + MASK + text[end:]


def look(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, words: Sequence[Span], blank: int, top: int = 5
) -> OneBlank | None:
    """What the model makes of `text` with word number `blank` hidden. words: `Encoding.word_spans` of it, at least one.
    None if the blank lies beyond the positions that the model has."""
    start, end = words[blank]
    encoding = tokenizer.encode(
        hide(text, words[blank]), max_length=model.config.max_position_embeddings, truncation="head"
    )
    added = [word is None for word in encoding.words]
    asked = [i for i, place in enumerate(encoding.offsets) if place[0] == start and not added[i]]
    if not asked:
        return None
    shift = len(MASK) - (end - start)  # of what stands to the right of the blank
    starts = [word[0] + (shift if number > blank else 0) for number, word in enumerate(words)]
    log_probs = expectations(model, encoding.ids, asked)[0]  # (V,)
    rows = attentions(model, encoding.ids)[-1, :, asked[0]]  # (A, T)
    by_word = rows.new_zeros(len(rows), len(words))  # (A, words)
    read: dict[int, list[int]] = {}
    for i, (place, _) in enumerate(encoding.offsets):
        if not added[i]:
            word = max(0, bisect_right(starts, place) - 1)
            by_word[:, word] += rows[:, i]
            read.setdefault(word, []).append(encoding.ids[i])
    weights = torch.cat([rows[:, :1], by_word, rows[:, -1:]], dim=1).amax(0)
    unknown = sum(tokenizer.unk_id in ids for ids in read.values()) / len(read)
    return OneBlank(
        _likeliest(log_probs, tokenizer, top),
        tuple(weights.tolist()),
        rows.max().item() < EVEN / len(encoding),
        unknown,
    )


def _likeliest(log_probs: Tensor, tokenizer: Tokenizer, top: int) -> tuple[tuple[str, float], ...]:
    best = log_probs.exp().topk(min(top, len(log_probs)))
    return tuple((tokenizer.vocab[i], p) for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True))
