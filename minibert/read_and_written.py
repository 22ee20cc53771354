"""A text that is read and one that is written, in one row: how UniLM is fine-tuned to write, and BERT for comparison
(Dong et al. 2019, arXiv:1905.03197, §2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from minibert.model import IGNORE, Batch
from minibert.relatives.unilm import SEGMENTS
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class Asked:
    """text: what is read · answer: what is to be written."""

    text: str
    answer: str


def batch_of(
    some: Sequence[Asked],
    tokenizer: Tokenizer,
    mask: str,
    rng: torch.Generator,
    rate: float = 0.7,
    longest: int | None = None,
) -> Batch:
    """[CLS] text [SEP] answer [SEP], tokens of the answer hidden, also the [SEP] with which it ends: so it is learned
    when to end. Hidden tokens are always [MASK]: when it writes, nothing else stands at a blank. longest: tokens that
    are read of each text, [CLS] and [SEP] among them."""
    first, second = SEGMENTS[mask]
    sources = [source_of(one.text, tokenizer, longest) for one in some]
    targets = [source_of(one.answer, tokenizer, longest)[1:] for one in some]
    batch = padded_batch([[*a, *b] for a, b in zip(sources, targets, strict=True)], tokenizer.pad_id)
    place = torch.arange(batch.ids.size(1))
    begins = torch.tensor([[len(source)] for source in sources])
    ends = begins + torch.tensor([[len(target)] for target in targets])
    written = (place >= begins) & (place < ends)  # (B, T)
    hidden = written & (torch.rand(written.shape, generator=rng) < rate)
    hidden |= written & (place == begins) & ~hidden.any(1, keepdim=True)  # something is asked of every row
    return Batch(
        batch.ids.masked_fill(hidden, tokenizer.mask_id),
        torch.where(place >= begins, second, first),
        batch.padding,
        torch.where(hidden, batch.ids, IGNORE),
    )


def source_of(text: str, tokenizer: Tokenizer, longest: int | None = None) -> list[int]:
    """[CLS] text [SEP], at most `longest` tokens."""
    return tokenizer.encode(text, max_length=longest, truncation="head").ids
