"""The left-to-right model of Devlin et al. 2019, §5.1: BERT under a causal mask that predicts the next token.
It is trained as GPT is, with everything else as in BERT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from minibert.attention_masks import causal_mask
from minibert.config import BertConfig
from minibert.model import Batch
from minibert.objectives import NextToken
from minibert.relatives.base import Relative


@dataclass(frozen=True)
class LeftToRightConfig(BertConfig):
    model_type: ClassVar[str] = "left_to_right"


def earlier_tokens(batch: Batch) -> Tensor:
    """A token sees itself and those before it. Padding is at the end of a row, where no real token attends anyway, so
    the causal mask suffices. → (1, 1, T, T)"""
    return causal_mask(batch.ids.size(1), batch.ids.device)


RELATIVE = Relative(
    "Left to right",
    LeftToRightConfig,
    in_transformers=False,
    about="each token sees itself and those before it, and the model was asked for the next one",
    encoder="bert",
    components={"mask": earlier_tokens},
    objective=lambda masking=None, second_weight=1.0: NextToken(),
)
