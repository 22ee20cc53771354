"""Masking for pre-training: pure functions (ids, rng) → (ids, labels), without state. The caller seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from minibert.model import IGNORE
from minibert.tokenizer import Tokenizer

if TYPE_CHECKING:
    from minibert.masking.similar_words import SimilarWords


@dataclass(frozen=True)
class MaskVocabulary:
    """What masking needs to know of the vocabulary and the text. size: random tokens are drawn from ids below it ·
    continuation: (V,) bool, True for `##` pieces · between: words, as tuples of ids, that separate phrases · names:
    entity's name → its kind · similar: finds words similar to a word."""

    size: int
    mask_id: int
    continuation: Tensor
    between: frozenset[tuple[int, ...]] = frozenset()
    names: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    similar: SimilarWords | None = None

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> MaskVocabulary:
        pieces = torch.tensor([tokenizer.goes_on(piece) for piece in tokenizer.vocab])
        return cls(len(tokenizer.ids), tokenizer.mask_id, pieces)


def mask_tokens(
    ids: Tensor,
    special: Tensor,
    vocab: MaskVocabulary,
    rng: torch.Generator,
    rate: float = 0.15,
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    whole_words: bool = False,
    joined: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Devlin et al. 2019, §3.1: hide `rate` of the tokens; of those, [MASK] / random / unchanged by `split`.

    ids: (B, T) int64 · special: (B, T) bool, never hidden ([CLS], [SEP], padding) · returns (ids, labels), labels −100
    where nothing is hidden. Each row hides round(rate × its tokens), at least one if rate > 0 and it has any.
    whole_words: a word is hidden with all its `##` pieces, within the same budget; in a script without such pieces,
    `joined` (B, T) marks the characters that continue a word (Cui et al. 2021).
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"the masking rate is a share between 0 and 1, not {rate}")
    if min(split) < 0 or abs(sum(split) - 1) > 1e-6:
        raise ValueError(f"the split must be three shares that sum to 1, not {split}")
    budget = masking_budget((~special).sum(dim=1), rate)  # (B,)
    if whole_words:
        continuation = vocab.continuation[ids] if joined is None else vocab.continuation[ids] | joined
        hidden = draw_words(continuation, special, budget, rng)
    else:
        hidden = draw_tokens(special, budget, rng)  # (B, T)
    labels = torch.where(hidden, ids, IGNORE)
    fate = torch.rand(ids.shape, generator=rng)  # (B, T)
    other = torch.randint(vocab.size, ids.shape, generator=rng)  # any entry of the vocabulary, as in the paper's code
    to_mask, to_random, _ = split
    corrupted = torch.where(hidden & (fate < to_mask), vocab.mask_id, ids)
    corrupted = torch.where(hidden & (fate >= to_mask) & (fate < to_mask + to_random), other, corrupted)
    return corrupted, labels


def masking_budget(tokens: Tensor, rate: float) -> Tensor:
    """How many tokens to hide in each row: round(rate × tokens), at least one if rate > 0. tokens: (B,) int64."""
    budget = tokens.double().mul(rate).round().long()
    return torch.maximum(budget, (tokens > 0).long()) if rate > 0 else budget


def draw_tokens(special: Tensor, budget: Tensor, rng: torch.Generator) -> Tensor:
    """`budget` positions of each row, drawn uniformly among those that are not special. → (B, T) bool."""
    lots = torch.rand(special.shape, generator=rng).masked_fill(special, 2.0)  # (B, T): special ones come last
    rank = lots.argsort(dim=1).argsort(dim=1)  # (B, T)
    return rank < budget[:, None]


def draw_words(continuation: Tensor, special: Tensor, budget: Tensor, rng: torch.Generator) -> Tensor:
    """Whole words in random order until the budget is full; a word that would overflow it is skipped.

    continuation: (B, T) bool, True for a piece that continues its word · → (B, T) bool. As in the paper's code.
    If every word of a row is longer than its budget, the shortest is hidden, so that the row has a target.
    """
    text = ~special
    goes_on = continuation & text & F.pad(text, (1, 0))[:, :-1]
    begins = text & ~goes_on
    word = (begins.cumsum(dim=1) - 1).clamp(min=0)  # (B, T): the number of each token's word in its row
    counts = begins.sum(dim=1).tolist()
    most = max(counts, default=0)
    if most == 0:
        return torch.zeros_like(special)
    lengths = torch.zeros(len(special), most + 1, dtype=torch.long).scatter_add(1, word, text.long())  # (B, words + 1)
    orders = [torch.randperm(count, generator=rng) for count in counts]
    order = pad_sequence(orders, batch_first=True, padding_value=most)  # (B, words); the last word has no token
    drawn = lengths.gather(1, order)
    taken = torch.zeros_like(drawn, dtype=torch.bool)
    left = budget.clone()
    for place in range(most):  # sequentially: whether a word fits depends on those before it
        taken[:, place] = (drawn[:, place] > 0) & (drawn[:, place] <= left)
        left = left - drawn[:, place] * taken[:, place]
    nothing = (budget > 0) & text.any(dim=1) & ~taken.any(dim=1)
    if nothing.any():
        lengths_or_more = torch.where(drawn > 0, drawn, special.size(1) + 1)
        rank = lengths_or_more * most + torch.arange(most)  # the shortest; of several the one drawn first
        taken[nothing, rank.argmin(dim=1)[nothing]] = True
    hidden = torch.zeros_like(lengths, dtype=torch.bool).scatter(1, order, taken)
    return hidden.gather(1, word) & text
