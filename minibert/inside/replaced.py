"""What a generator puts in the place of hidden tokens, and what a discriminator thinks of it (Clark et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.replaced_tokens import filled_in, sample
from minibert.tokenizer import Tokenizer

ROWS = 512  # texts read at once


@dataclass(frozen=True)
class Replaced:
    """One draw, by position: original: what stood there · hidden: whether the generator was asked · guesses: hidden
    position → P of each token (V,) · read: what the discriminator was given · suspicion: P(replaced) (T,)."""

    original: list[int]
    hidden: list[bool]
    guesses: dict[int, Tensor]
    read: list[int]
    suspicion: list[float]

    @property
    def replaced(self) -> list[bool]:
        """By position: does it hold another token than before? A sample that is right does not."""
        return [new != old for new, old in zip(self.read, self.original, strict=True)]


@torch.no_grad()
def replaced(
    generator: BertForPreTraining,
    discriminator: nn.Module,
    ids: Sequence[int],
    places: Sequence[int],
    mask_id: int,
    *,
    temperature: float = 1.0,
    seed: int = 0,
) -> Replaced:
    """Hide `places`, let the generator fill them from softmax(logits / temperature), and the discriminator judge."""
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
def originality(discriminator: nn.Module, ids: Sequence[int], place: int, candidates: Sequence[int]) -> Tensor:
    """P(original) of each candidate where it stands at `place` of `ids` and nothing else is changed. (candidates,)"""
    device = next(discriminator.parameters()).device
    rows = torch.tensor(list(ids), device=device).repeat(len(candidates), 1)
    rows[:, place] = torch.tensor(list(candidates), device=device)
    logits = [discriminator(Batch(some)).logits[:, place] for some in rows.split(ROWS)]
    return torch.sigmoid(-torch.cat(logits).float()).cpu()


def fitting(
    discriminator: nn.Module, tokenizer: Tokenizer, text: str, top: int = 5, words: Sequence[int] | None = None
) -> list[tuple[str, float]]:
    """The `top` tokens that the discriminator would soonest take for original at the one [MASK] of `text`, with their
    P(original): as many readings as there are `words`, by default the whole vocabulary without its special tokens.
    Raises ValueError where there is no [MASK] or another one, for it has never read one."""
    ids = tokenizer.encode(text, max_length=discriminator.config.max_position_embeddings, truncation="head").ids
    if ids.count(tokenizer.mask_id) != 1:
        raise ValueError("a discriminator reads no [MASK]: give it exactly one to put words into")
    words = words or [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    fits = originality(discriminator, ids, ids.index(tokenizer.mask_id), words)
    best = fits.topk(min(top, len(words)))
    return [(tokenizer.vocab[words[i]], p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]
