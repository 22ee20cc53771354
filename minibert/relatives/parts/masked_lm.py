"""A masked language model without next-sentence prediction: RoBERTa's, SpanBERT's, ELECTRA's generator."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import BERT_COMPONENTS, BertForPreTraining, Components


def no_pooler(config: BertConfig) -> Callable[[Tensor], Tensor]:
    """In place of the pooler of a model without one: [CLS] as it is. (B, T, H) → (B, H)"""
    return lambda x: x[:, 0]


class NoPairs(nn.Module):
    """Placeholder for the next-sentence head of a model without one. (B, H) → (B, 0)"""

    def forward(self, pooled: Tensor) -> Tensor:
        return pooled[:, :0]


class MaskedLm(BertForPreTraining):
    """BERT with the masked-LM head only."""

    objective_name = "mlm"

    def __init__(self, config: BertConfig, components: Components = BERT_COMPONENTS):
        super().__init__(config, components)
        self.nsp = NoPairs()
