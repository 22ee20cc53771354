"""What pre-training hides: pure functions (ids, rng) → (ids, labels). The caller seeds; nothing is remembered."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from minibert.model import IGNORE
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class MaskVocabulary:
    """What masking must know of a vocabulary. continuation: (V,) bool, True for `##` pieces."""

    size: int
    mask_id: int
    continuation: Tensor

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> MaskVocabulary:
        pieces = torch.tensor([piece.startswith("##") for piece in tokenizer.vocab])
        return cls(tokenizer.vocab_size, tokenizer.mask_id, pieces)


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
    where nothing is asked. Each row hides round(rate × its tokens), at least one if rate > 0 and it has any.
    whole_words: a word falls with all its `##` pieces, within the same budget; and where a script has no such pieces,
    with the characters that `joined` (B, T) says continue a word (Cui et al. 2021).
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
    """How many of so many tokens are hidden: round(rate × tokens), at least one if rate > 0. tokens: (B,) int64."""
    budget = tokens.double().mul(rate).round().long()
    return torch.maximum(budget, (tokens > 0).long()) if rate > 0 else budget


def draw_tokens(special: Tensor, budget: Tensor, rng: torch.Generator) -> Tensor:
    """`budget` positions of each row, drawn evenly among those that are not special. → (B, T) bool."""
    lots = torch.rand(special.shape, generator=rng).masked_fill(special, 2.0)  # (B, T): special ones come last
    rank = lots.argsort(dim=1).argsort(dim=1)  # (B, T)
    return rank < budget[:, None]


def draw_words(continuation: Tensor, special: Tensor, budget: Tensor, rng: torch.Generator) -> Tensor:
    """Whole words in random order until the budget is full; a word that would overflow it is passed over.

    continuation: (B, T) bool, True for a piece that continues its word · → (B, T) bool. As in the paper's code.
    A row whose every word is longer than its budget loses its shortest drawn word, so that something is asked.
    """
    hidden = torch.zeros_like(special)
    for row in range(special.size(0)):
        words: list[list[int]] = []
        for position in (~special[row]).nonzero().flatten().tolist():
            if words and continuation[row, position] and words[-1][-1] == position - 1:
                words[-1].append(position)
            else:
                words.append([position])
        order = [words[i] for i in torch.randperm(len(words), generator=rng).tolist()]
        left = int(budget[row])
        for word in order:
            if len(word) <= left:
                hidden[row, word] = True
                left -= len(word)
        if order and budget[row] > 0 and not hidden[row].any():
            hidden[row, min(order, key=len)] = True
    return hidden
