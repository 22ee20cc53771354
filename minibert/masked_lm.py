"""A masked language model without next-sentence prediction: RoBERTa's, SpanBERT's, ELECTRA's generator."""

from __future__ import annotations

from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import BertForPreTraining


class NoPairs(nn.Module):
    """Placeholder for the next-sentence head of a model without one. (B, H) → (B, 0)"""

    def forward(self, pooled: Tensor) -> Tensor:
        return pooled[:, :0]


class MaskedLm(BertForPreTraining):
    """BERT with the masked-LM head only."""

    asked = "mlm"

    def __init__(self, config: BertConfig):
        super().__init__(config)
        self.nsp = NoPairs()
