"""A masked language model that is asked nothing about pairs of segments: RoBERTa's, SpanBERT's, ELECTRA's generator."""

from __future__ import annotations

from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import BertForPreTraining


class NoPairs(nn.Module):
    """In the place of the next-sentence head: nothing was asked of pairs, and nothing is answered. (B, H) → (B, 0)"""

    def forward(self, pooled: Tensor) -> Tensor:
        return pooled[:, :0]


class MaskedLm(BertForPreTraining):
    """BERT with the head for hidden tokens alone."""

    asked = "mlm"

    def __init__(self, config: BertConfig):
        super().__init__(config)
        self.nsp = NoPairs()
