"""ALBERT (Lan et al. 2020, arXiv:1909.11942): fewer parameters. Narrow embeddings projected to H, one block for
all layers, and sentence-order instead of next-sentence prediction. Names and fields as in transformers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from minibert.config import PRESETS, BertConfig
from minibert.count import SHARED, Shape
from minibert.model import Block
from minibert.objectives import MaskedLanguageModel
from minibert.relatives.base import Relative
from minibert.relatives.parts.factorised import FactorisedEmbeddings


@dataclass(frozen=True)
class AlbertConfig(BertConfig):
    """embedding_size: E, of token, segment and position vectors before the projection to H (§3.1) · shared: the weights
    that layers share (table 4); transformers only reads "all" and "none", which is as many groups as layers."""

    model_type: ClassVar[str] = "albert"
    presets: ClassVar = {**PRESETS, "xlarge": (24, 2048, 16), "xxlarge": (12, 4096, 64)}  # table 1
    vocab_size: int = 30000
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    embedding_size: int = 128
    shared: str = "all"
    num_hidden_groups: int = 1
    inner_group_num: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shared not in SHARED:
            raise ValueError(f"shared must be one of {', '.join(SHARED)}, not {self.shared!r}")
        if self.shared != "all":
            object.__setattr__(self, "num_hidden_groups", 1)  # `as_dict` writes the number
        if (self.num_hidden_groups, self.inner_group_num) != (1, 1) or self.embedding_size < 1:
            raise ValueError("num_hidden_groups and inner_group_num must be 1 here, and embedding_size at least 1")

    def as_dict(self) -> dict:
        return super().as_dict() | {"num_hidden_groups": 1 if self.shared == "all" else self.num_hidden_layers}


def blocks(config: AlbertConfig) -> list[Block]:
    """The same block, L times (§3.1), or L blocks that share the parts of `config.shared`."""
    made = [Block(config) for _ in range(1 if config.shared == "all" else config.num_hidden_layers)]
    for block in made[1:]:
        for part in (name for half in SHARED[config.shared] for name in (half, f"{half}_norm")):
            setattr(block, part, getattr(made[0], part))
    return made if len(made) > 1 else made * config.num_hidden_layers


LAYER = r"encoder.albert_layer_groups.\1.albert_layers.0"
RELATIVE = Relative(
    "ALBERT",
    AlbertConfig,
    about="weights shared between layers: {shared}, embeddings E = {embedding_size} wide",
    components={"embeddings": FactorisedEmbeddings, "blocks": blocks},
    objective=partial(MaskedLanguageModel, second="sop"),
    shape=lambda c: Shape(c, embedding_size=c.embedding_size, shared=c.shared, objective="mlm+sop"),
    names=(
        (r"\bembeddings\.projection\b", "encoder.embedding_hidden_mapping_in"),
        (r"\bblocks\.(\d+)\.attn\.(query|key|value)\b", rf"{LAYER}.attention.\2"),
        (r"\bblocks\.(\d+)\.attn\.output\b", f"{LAYER}.attention.dense"),
        (r"\bblocks\.(\d+)\.attn_norm\b", f"{LAYER}.attention.LayerNorm"),
        (r"\bblocks\.(\d+)\.mlp\.expand\b", f"{LAYER}.ffn"),
        (r"\bblocks\.(\d+)\.mlp\.contract\b", f"{LAYER}.ffn_output"),
        (r"\bblocks\.(\d+)\.mlp_norm\b", f"{LAYER}.full_layer_layer_norm"),
        (r"\bpooler\.dense\b", "pooler"),
        (r"^mlm\.(dense|decoder\.weight)\b", r"predictions.\1"),
        (r"^mlm\.norm\b", "predictions.LayerNorm"),
        (r"^mlm\.decoder\.bias\b", "predictions.bias"),
        (r"^nsp\b", "sop_classifier.classifier"),
    ),
)
