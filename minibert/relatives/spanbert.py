"""SpanBERT (Joshi et al. 2020, arXiv:1907.10529): spans are masked, not tokens, and predicted twice: by BERT's head and
from the two tokens around them. One segment per row, no prediction about pairs. See `parts.span_boundary`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from minibert.config import BertConfig
from minibert.count import Shape
from minibert.relatives.base import Relative
from minibert.relatives.parts.span_boundary import SpanLm, Spans


@dataclass(frozen=True)
class SpanBertConfig(BertConfig):
    """span_position_size: size of the embedding of a token's position in its span."""

    model_type: ClassVar[str] = "spanbert"
    span_position_size: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.span_position_size <= 2**16:
            raise ValueError(f"span_position_size must be from 1 to {2**16:,}, not {self.span_position_size}")


RELATIVE = Relative(
    "SpanBERT",
    SpanBertConfig,
    prefix="SpanBert",
    encoder="bert",
    in_transformers=False,  # its encoder is a BERT there; no class has the boundary head
    about="spans were hidden, and also guessed from the two tokens around them",
    objective=Spans,
    heads={"ForMaskedLM": SpanLm},
    shape=lambda c: Shape(c, objective="mlm+sbo"),
)
