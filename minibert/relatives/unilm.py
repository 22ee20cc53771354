"""UniLM (Dong et al. 2019, arXiv:1905.03197): one network under four masks. A batch is read from both sides, from the
left, from the right, or as a text that is read and one that is written. Which, the segments say (§2.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from minibert.attention_masks import causal_mask
from minibert.config import BertConfig
from minibert.model import Batch, every_real_token
from minibert.objectives import MaskedLanguageModel, Masking
from minibert.relatives.registry import relative
from minibert.text.segment_pairs import SegmentPair, ordered_pairs

# Mask → segment of the first text and of the second, and the share of batches that have it (§2.4).
SEGMENTS = {"both_ways": (0, 1), "left_to_right": (2, 2), "right_to_left": (3, 3), "seq2seq": (4, 5)}
SHARES = {"both_ways": 1 / 3, "left_to_right": 1 / 6, "right_to_left": 1 / 6, "seq2seq": 1 / 3}


@dataclass(frozen=True)
class UnilmConfig(BertConfig):
    """BERT's sizes, and segments that also say which mask there is."""

    model_type: ClassVar[str] = "unilm"
    type_vocab_size: int = 6


def by_segments(batch: Batch) -> Tensor | None:
    """What stands in segment 0, 1 or 4 is seen from everywhere; in 2 or 5 from itself and what follows; in 3 from
    itself and what comes before (figure 1). Padding sees itself. → broadcastable to (B, A, T, T), None for all."""
    if batch.segments is None:
        return every_real_token(batch)
    seen = batch.segments[:, None, None, :]  # (B, 1, 1, T)
    past = causal_mask(seen.size(-1), seen.device)  # (1, 1, T, T)
    mask = (seen <= 1) | (seen == 4) | (((seen == 2) | (seen == 5)) & past) | ((seen == 3) & past.mT)
    return mask if batch.padding is None else (mask & batch.padding[:, None, None, :]) | (past & past.mT)


def following_pairs(*document, **options) -> list[SegmentPair]:
    """Two segments, the second of which goes on where the first ends."""
    pairs = ordered_pairs(*document, **options)
    return [SegmentPair(p.b, p.a, None) if p.next_label else SegmentPair(p.a, p.b, None) for p in pairs]


@dataclass(frozen=True)
class FourMasks(MaskedLanguageModel):
    """BERT's hidden tokens, asked where they stand, under a mask drawn for each batch from `masks`. Of a row with one
    segment, what is written begins at a random token. The paper also asks for the next sentence where it reads both
    ways, and in a fifth of the cases hides two or three tokens in a row."""

    second: str | None = None
    masks: tuple[str, ...] = tuple(SHARES)

    name: ClassVar = "mlm+masks"
    reads_elsewhere: ClassVar = False
    pairs: ClassVar = {"segment_pair": following_pairs}

    def corrupt(self, batch, special, joined, vocabulary, rng):
        batch = super().corrupt(batch, special, joined, vocabulary, rng)
        drawn = torch.multinomial(torch.tensor([SHARES[name] for name in self.masks]), 1, generator=rng)
        first, second = SEGMENTS[self.masks[int(drawn)]]
        lengths = (~special).sum(1, keepdim=True)  # (B, 1): tokens of text
        cut = 1 + (torch.rand(lengths.shape, generator=rng) * lengths).long()
        written = batch.segments == 1 if batch.segments.any() else torch.arange(batch.ids.size(1)) > cut  # (B, T)
        return replace(batch, segments=torch.where(written, second, first) if first else batch.segments)


relative(
    "UniLM",
    UnilmConfig,
    in_transformers=False,
    about="read both ways here; it also learned to read from one side, and to write a second text",
    encoder="bert",
    parts={"mask": by_segments},
    objective=lambda masking=None, second_weight=1.0, **options: FourMasks(masking or Masking(), **options),
)
