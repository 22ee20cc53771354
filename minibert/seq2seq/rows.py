"""A source and a target text in one row: sequence-to-sequence fine-tuning of UniLM, and of BERT for comparison
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
class Seq2SeqExample:
    """text: the source · answer: the target, to be generated."""

    text: str
    answer: str


def batch_of(
    some: Sequence[Seq2SeqExample],
    tokenizer: Tokenizer,
    mask: str,
    rng: torch.Generator,
    rate: float = 0.7,
    longest: int | None = None,
) -> Batch:
    """[CLS] text [SEP] answer [SEP] with tokens of the answer masked, also its final [SEP], so that the model learns
    when to stop. Masked tokens are always [MASK], as in generation. mask: a key of SEGMENTS · longest: most tokens of
    each text, with [CLS] and [SEP]."""
    first, second = SEGMENTS[mask]
    sources = [source_of(one.text, tokenizer, longest) for one in some]
    targets = [source_of(one.answer, tokenizer, longest)[1:] for one in some]
    batch = padded_batch([[*a, *b] for a, b in zip(sources, targets, strict=True)], tokenizer.pad_id)
    place = torch.arange(batch.ids.size(1))
    begins = torch.tensor([[len(source)] for source in sources])
    ends = begins + torch.tensor([[len(target)] for target in targets])
    written = (place >= begins) & (place < ends)  # (B, T)
    hidden = written & (torch.rand(written.shape, generator=rng) < rate)
    hidden |= written & (place == begins) & ~hidden.any(1, keepdim=True)  # every row has a target
    return Batch(
        batch.ids.masked_fill(hidden, tokenizer.mask_id),
        torch.where(place >= begins, second, first),
        batch.padding,
        torch.where(hidden, batch.ids, IGNORE),
    )


def source_of(text: str, tokenizer: Tokenizer, longest: int | None = None) -> list[int]:
    """[CLS] text [SEP], at most `longest` tokens."""
    return tokenizer.encode(text, max_length=longest, truncation="head").ids
