"""WKLM (Xiong et al. 2020, arXiv:1912.09637): names are replaced by others of their kind, and each is classified as
original or replaced. A wrong name fits the grammar, so that this takes knowledge of the facts. Corruption and head are
in `minibert.relatives.parts.replaced_names`; the encoder is BERT's, and works without the head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from minibert.config import BertConfig
from minibert.count import Shape
from minibert.relatives.base import Relative
from minibert.relatives.parts.replaced_names import NamesLm, ReplacedNames


@dataclass(frozen=True)
class WklmConfig(BertConfig):
    model_type: ClassVar[str] = "wklm"


RELATIVE = Relative(
    "WKLM",
    WklmConfig,
    encoder="bert",
    in_transformers=False,  # its encoder is a BERT there; no class has the head for names
    about="it was asked of every name whether it was the text’s own or another of its kind",
    objective=ReplacedNames,
    heads={"ForMaskedLM": NamesLm},
    shape=lambda c: Shape(c, objective="mlm+names"),
)
