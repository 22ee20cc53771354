"""XLNet (Yang et al. 2019, arXiv:1906.08237): no [MASK]; the last words of a random order are predicted, each from
those before it. Order: `minibert.relatives.parts.permutation`; network: `parts.transformer_xl`. Names, fields and the
shapes of stored weights as in transformers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from torch import nn

from minibert.config import BertConfig
from minibert.count import Shape
from minibert.heads import BertForQuestionAnswering
from minibert.model import Block, stack
from minibert.relatives.base import Relative
from minibert.relatives.parts import transformer_xl as xl
from minibert.relatives.parts.masked_lm import no_pooler
from minibert.relatives.parts.permutation import PermutationLanguageModel, PermutationLM


@dataclass(frozen=True)
class XlnetConfig(BertConfig):
    """BERT's sizes. The network has no longest row; `max_position_embeddings` is a limit set here."""

    model_type: ClassVar[str] = "xlnet"
    renamed: ClassVar = {
        "hidden_size": "d_model", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
        "intermediate_size": "d_inner", "hidden_act": "ff_activation", "hidden_dropout_prob": "dropout",
        "max_position_embeddings": "longest_row",
    }  # fmt: skip
    fixed: ClassVar = {"attn_type": "bi", "bi_data": False, "clamp_len": -1, "same_length": False}
    vocab_size: int = 32000

    def as_dict(self) -> dict:
        return super().as_dict() | {"summary_type": "first", "use_mems_eval": False}  # [CLS] stands first here

    @classmethod
    def from_dict(cls, values) -> Self:
        return super().from_dict({"attention_probs_dropout_prob": values.get("dropout"), **values})


RELATIVE = Relative(
    "XLNet",
    XlnetConfig,
    prefix="XLNet",
    encoder="transformer",
    about="no position embeddings, each head hears how far apart two tokens stand; words were guessed in drawn orders",
    components={
        "embeddings": xl.WordEmbeddings,
        "blocks": stack(partial(Block, attention=xl.TransformerXlAttention)),
        "pooler": no_pooler,
        "attention_kwargs": xl.places_and_segments,
        "summary": nn.Tanh,
    },
    objective=PermutationLanguageModel,
    shape=lambda c: Shape(c, segments=False, pooler=False, objective="plm", own=xl.own_rows()),
    heads={"LMHeadModel": PermutationLM, "ForQuestionAnsweringSimple": BertForQuestionAnswering},
    layout=(xl.as_stored, xl.as_read),
    names=xl.NAMES,
    head_names=dict.fromkeys(
        ("ForSequenceClassification", "ForMultipleChoice"),
        ((r"^classifier\b", "logits_proj"), (r"^summary\.0\b", "sequence_summary.summary")),
    ),
)
