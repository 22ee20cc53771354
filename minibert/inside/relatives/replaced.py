"""What a generator puts in the place of hidden tokens, and what a discriminator thinks of it (Clark et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.relatives.parts.replaced_token_detection import filled_in, sample
from minibert.tokenizer import Tokenizer

ROWS = 512  # texts per batch


@dataclass(frozen=True)
class Replaced:
    """One draw, by position. original: token before masking · hidden: whether it was masked · guesses: masked position
    → P of each token (V,) · read: the discriminator's input · suspicion: P(replaced) (T,)."""

    original: list[int]
    hidden: list[bool]
    guesses: dict[int, Tensor]
    read: list[int]
    suspicion: list[float]

    @property
    def replaced(self) -> list[bool]:
        """By position: whether the token differs from the original one. A sample that is right does not."""
        return [new != old for new, old in zip(self.read, self.original, strict=True)]


@torch.no_grad()
def replaced(
    generator: BertForPreTraining,
    discriminator: Any,
    ids: Sequence[int],
    places: Sequence[int],
    mask_id: int,
    *,
    temperature: float = 1.0,
    seed: int = 0,
) -> Replaced:
    """Mask `places`, let the generator fill them from softmax(logits / temperature), and the discriminator judge."""
    row = torch.tensor([list(ids)])
    hidden = torch.zeros_like(row, dtype=torch.bool)
    hidden[0, list(places)] = True
    batch = Batch(row.masked_fill(hidden, mask_id), labels=row.masked_fill(~hidden, IGNORE))
    logits = generator(batch).mlm_logits  # (M, V)
    read = filled_in(batch, sample(logits, temperature, torch.Generator().manual_seed(seed)))
    probs = (logits.float() / max(temperature, 1e-3)).softmax(-1)
    return Replaced(
        list(ids),
        hidden[0].tolist(),
        dict(zip(sorted(places), probs, strict=True)),
        read.ids[0].tolist(),
        discriminator(read).logits[0].sigmoid().tolist(),
    )


@torch.no_grad()
def originality(discriminator: Any, ids: Sequence[int], place: int, candidates: Sequence[int]) -> Tensor:
    """P(original) of each candidate at `place` of `ids`, with nothing else changed. (candidates,)"""
    device = next(discriminator.parameters()).device
    rows = torch.tensor(list(ids), device=device).repeat(len(candidates), 1)
    rows[:, place] = torch.tensor(list(candidates), device=device)
    logits = [discriminator(Batch(some)).logits[:, place] for some in rows.split(ROWS)]
    return torch.sigmoid(-torch.cat(logits).float()).cpu()


def fitting(
    discriminator: Any, tokenizer: Tokenizer, text: str, top: int = 5, words: Sequence[int] | None = None
) -> list[tuple[str, float]]:
    """The `top` tokens with the highest P(original) at the one [MASK] of `text`, and that probability. The
    discriminator runs on one row for each of `words`, by default the whole vocabulary without special tokens. Raises
    ValueError if the text has no [MASK] or several: a discriminator is not trained on [MASK]."""
    ids = tokenizer.encode(text, max_length=discriminator.config.longest, truncation="head").ids
    if ids.count(tokenizer.mask_id) != 1:
        raise ValueError("a discriminator reads no [MASK]: give it exactly one to put words into")
    words = words or [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    fits = originality(discriminator, ids, ids.index(tokenizer.mask_id), words)
    best = fits.topk(min(top, len(words)))
    return [(tokenizer.vocab[words[i]], p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]


@dataclass(frozen=True)
class ReplacedTally:
    """Counts over many texts. hidden: tokens that the generator filled · right: of these, filled with the original ·
    replaced: filled with another · found: of these, those that the discriminator judges replaced · original: tokens
    that are unchanged · suspected: of these, those it judges replaced."""

    hidden: int = 0
    right: int = 0
    replaced: int = 0
    found: int = 0
    original: int = 0
    suspected: int = 0

    def and_of(self, one: Replaced, special: Sequence[bool]) -> ReplacedTally:
        """This tally plus another draw; special tokens are left out."""
        places = [i for i, is_special in enumerate(special) if not is_special]
        new = [i for i in places if one.replaced[i]]
        old = [i for i in places if not one.replaced[i]]
        hidden = sum(one.hidden[i] for i in places)
        return ReplacedTally(
            self.hidden + hidden,
            self.right + hidden - len(new),
            self.replaced + len(new),
            self.found + sum(one.suspicion[i] > 0.5 for i in new),
            self.original + len(old),
            self.suspected + sum(one.suspicion[i] > 0.5 for i in old),
        )

    def shares(self) -> dict[str, float]:
        """right of hidden, found of replaced, suspected of original; 0 where there is none."""
        pairs = {"right": (self.right, self.hidden), "found": (self.found, self.replaced)}
        pairs["suspected"] = (self.suspected, self.original)
        return {name: part / whole if whole else 0.0 for name, (part, whole) in pairs.items()}


def places_to_hide(special: Sequence[bool], rate: float, seed: int) -> list[int]:
    """Places to mask, drawn as in pre-training: a share `rate` of the tokens that are not special, one at least."""
    free = [i for i, is_special in enumerate(special) if not is_special]
    count = min(len(free), max(1, round(rate * len(free))))
    order = torch.randperm(len(free), generator=torch.Generator().manual_seed(seed)).tolist()
    return sorted(free[i] for i in order[:count])


def tally(
    generator: BertForPreTraining,
    discriminator: Any,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    temperature: float,
    rate: float = 0.15,
    seed: int = 0,
) -> ReplacedTally:
    """The tally of `texts`, with one draw each."""
    total = ReplacedTally()
    for number, text in enumerate(texts):
        encoding = tokenizer.encode(text, max_length=discriminator.config.longest, truncation="head")
        places = places_to_hide(encoding.special, rate, seed + number)
        if places:
            one = replaced(
                generator,
                discriminator,
                encoding.ids,
                places,
                tokenizer.mask_id,
                temperature=temperature,
                seed=seed + number,
            )
            total = total.and_of(one, encoding.special)
    return total
