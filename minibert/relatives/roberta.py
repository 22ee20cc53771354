"""RoBERTa (Liu et al. 2019, arXiv:1907.11692): BERT's network, trained differently: masks drawn anew in every epoch, no
prediction about pairs, rows of full sentences across documents; positions start at pad_token_id + 1. Names and fields
as in transformers; byte-level BPE (`minibert.text.byte_tokenizer`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from minibert.config import BertConfig
from minibert.count import Shape
from minibert.model import Embeddings, Tap, no_tap
from minibert.objectives import WithoutPairs
from minibert.relatives.base import Relative
from minibert.relatives.parts.masked_lm import MaskedLm


@dataclass(frozen=True)
class RobertaConfig(BertConfig):
    model_type: ClassVar[str] = "roberta"
    mlm_act: ClassVar[str] = "gelu"  # whatever hidden_act is, as in transformers
    vocab_size: int = 50265
    max_position_embeddings: int = 514
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.pad_token_id <= self.max_position_embeddings - 2:
            raise ValueError(f"behind pad_token_id {self.pad_token_id} there is no position for a token")

    @property
    def longest(self) -> int:
        return self.max_position_embeddings - self.pad_token_id - 1


class CountedPositions(Embeddings):
    """A row's tokens have the positions pad + 1, pad + 2, …, its padding has pad. There is one segment."""

    def __init__(self, config: RobertaConfig):
        super().__init__(config)
        self.pad = config.pad_token_id

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        if ids.size(1) > (room := self.position.num_embeddings - self.pad - 1):
            raise ValueError(f"{ids.size(1)} tokens, but there are only {room} positions")
        real = (ids != self.pad).long()
        places = real.cumsum(1) * real if positions is None else positions + 1  # (B, T)
        token, segment = tap("token", self.token(ids)), tap("segment", self.segment(torch.zeros_like(ids)))
        x = tap("sum", token + segment + tap("position", self.position(places + self.pad)))  # (B, T, H)
        return tap("out", self.dropout(self.norm(x)))  # (B, T, H)


RELATIVE = Relative(
    "RoBERTa",
    RobertaConfig,
    about="masks drawn anew at each reading, full sentences, nothing asked about pairs",
    components={"embeddings": CountedPositions},
    objective=WithoutPairs,
    heads={"ForMaskedLM": MaskedLm},
    shape=lambda c: Shape(c, objective="mlm"),
    names=(
        (r"^mlm\.dense\b", "lm_head.dense"),
        (r"^mlm\.norm\b", "lm_head.layer_norm"),
        (r"^mlm\.decoder\.weight\b", "lm_head.decoder.weight"),
        (r"^mlm\.decoder\.bias\b", "lm_head.bias"),
    ),
    head_names={  # in transformers its pooler and new layer are one head
        "ForSequenceClassification": (
            (r"^classifier\b", "classifier.out_proj"),
            (r"^bert\.pooler\.dense\b", "classifier.dense"),
        )
    },
)
