"""WKLM (Xiong et al. 2020, arXiv:1912.09637): names are replaced by others of their kind, and of each it is asked
whether it is the text's own. The wrong name fits the grammar; only who knows what is told can say. Corruption and head
stand in `minibert.replaced_names`; the encoder is BERT's, and stays as it is when the head is thrown away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from minibert.config import BertConfig
from minibert.count import Shape
from minibert.relatives.registry import relative
from minibert.replaced_names import NamesLm, ReplacedNames


@dataclass(frozen=True)
class WklmConfig(BertConfig):
    """BERT's sizes."""

    model_type: ClassVar[str] = "wklm"


relative(
    "WKLM",
    WklmConfig,
    encoder="bert",
    in_transformers=False,  # its encoder is a BERT there; the head for names is in no class
    about="it was asked of every name whether it was the text’s own or another of its kind",
    objective=ReplacedNames,
    heads={"ForMaskedLM": NamesLm},
    shape=lambda c: Shape(c, objective="mlm+names"),
)
