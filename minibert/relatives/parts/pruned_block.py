"""A block with fewer heads and neurons, possibly none (Michel et al. 2019, arXiv:1905.10650)."""

from __future__ import annotations

import warnings

from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import ACTIVATIONS, Block, FeedForward, SelfAttention, Tap, no_tap


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer that may have 0 inputs, and then outputs its bias, or 0 outputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # initializing an empty weight warns
        return nn.Linear(inputs, outputs)


class FewerHeads(SelfAttention):
    """Q, K and V have only the rows of the remaining heads, the output only their columns."""

    def __init__(self, config: BertConfig, heads: int):
        nn.Module.__init__(self)
        self.heads, self.head_size = heads, config.head_size
        width = heads * config.head_size
        self.query, self.key, self.value = (linear(config.hidden_size, width) for _ in range(3))
        self.output = linear(width, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, x: Tensor, mask: Tensor | None = None, tap: Tap = no_tap, **kwargs) -> Tensor:
        if self.heads == 0:
            return tap("out", self.output(x[..., :0]))  # (B, T, H)
        return super().forward(x, mask, tap, **kwargs)


class FewerNeurons(FeedForward):
    def __init__(self, config: BertConfig, neurons: int):
        nn.Module.__init__(self)
        self.expand, self.contract = linear(config.hidden_size, neurons), linear(neurons, config.hidden_size)
        self.activation = ACTIVATIONS[config.hidden_act]


class PrunedBlock(Block):
    def __init__(self, config: BertConfig, heads: int, neurons: int):
        super().__init__(config, lambda config: FewerHeads(config, heads))
        self.mlp = FewerNeurons(config, neurons)
