"""UniLM (Dong et al. 2019, arXiv:1905.03197): one network, four attention masks: bidirectional, left to right, right to
left, and sequence-to-sequence. The segments of a batch select the mask (§2.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from minibert.attention_masks import causal_mask
from minibert.config import BertConfig
from minibert.model import Batch, every_real_token
from minibert.objectives import MaskedLanguageModel, Masking
from minibert.relatives.base import Relative
from minibert.text.segment_pairs import SegmentPair, ordered_pairs

# Mask → segments of the first and the second text; mask → share of batches (§2.4).
SEGMENTS = {"both_ways": (0, 1), "left_to_right": (2, 2), "right_to_left": (3, 3), "seq2seq": (4, 5)}
SHARES = {"both_ways": 1 / 3, "left_to_right": 1 / 6, "right_to_left": 1 / 6, "seq2seq": 1 / 3}


@dataclass(frozen=True)
class UnilmConfig(BertConfig):
    """BERT's sizes; the segments also select the mask."""

    model_type: ClassVar[str] = "unilm"
    type_vocab_size: int = 6


def by_segments(batch: Batch) -> Tensor | None:
    """Tokens of segments 0, 1 and 4 are visible to all; of 2 and 5 to themselves and later ones; of 3 to themselves
    and earlier ones (figure 1). Padding sees itself. → broadcastable to (B, A, T, T), None for all."""
    if batch.segments is None:
        return every_real_token(batch)
    key = batch.segments[:, None, None, :]  # (B, 1, 1, T)
    past = causal_mask(key.size(-1), key.device)  # (1, 1, T, T)
    mask = (key <= 1) | (key == 4) | (((key == 2) | (key == 5)) & past) | ((key == 3) & past.mT)
    return mask if batch.padding is None else (mask & batch.padding[:, None, None, :]) | (past & past.mT)


def following_pairs(*document, **options) -> list[SegmentPair]:
    """Pairs of segments, the second of which continues the first."""
    pairs = ordered_pairs(*document, **options)
    return [SegmentPair(p.b, p.a, None) if p.next_label else SegmentPair(p.a, p.b, None) for p in pairs]


@dataclass(frozen=True)
class FourMasks(MaskedLanguageModel):
    """BERT's masked tokens, predicted at their positions, under an attention mask drawn for each batch from `masks`. In
    a row of one segment the second text begins at a random token. The paper also predicts the next sentence under the
    bidirectional mask, and in a fifth of the cases masks two or three adjacent tokens."""

    second: str | None = None
    masks: tuple[str, ...] = tuple(SHARES)

    name: ClassVar = "mlm+masks"
    uses_other_documents: ClassVar = False
    pairs: ClassVar = {"segment_pair": following_pairs}

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        batch = super().corrupt(batch, special, joined, vocabulary, rng)
        drawn = torch.multinomial(torch.tensor([SHARES[name] for name in self.masks]), 1, generator=rng)
        first, second = SEGMENTS[self.masks[int(drawn)]]
        lengths = (~special).sum(1, keepdim=True)  # (B, 1): tokens of text
        cut = 1 + (torch.rand(lengths.shape, generator=rng) * lengths).long()
        written = batch.segments == 1 if batch.segments.any() else torch.arange(batch.ids.size(1)) > cut  # (B, T)
        return replace(batch, segments=torch.where(written, second, first) if first else batch.segments)


RELATIVE = Relative(
    "UniLM",
    UnilmConfig,
    in_transformers=False,
    about="read both ways here; it also learned to read from one side, and to write a second text",
    encoder="bert",
    components={"mask": by_segments},
    objective=lambda masking=None, second_weight=1.0, **options: FourMasks(masking or Masking(), **options),
)
