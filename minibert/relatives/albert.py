"""ALBERT (Lan et al. 2020, arXiv:1909.11942): fewer parameters. A narrow embedding that one matrix widens, one block
for all layers, and the order of two segments instead of the next sentence. Names and fields as in transformers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import Tensor, nn

from minibert.config import PRESETS, BertConfig
from minibert.count import Shape
from minibert.model import Block, Embeddings, Tap, no_tap
from minibert.objectives import MaskedLanguageModel
from minibert.relatives.registry import relative


@dataclass(frozen=True)
class AlbertConfig(BertConfig):
    """embedding_size: E, of token, segment and position vectors before they are widened to H (§3.1)."""

    model_type: ClassVar[str] = "albert"
    presets: ClassVar = {**PRESETS, "xlarge": (24, 2048, 16), "xxlarge": (12, 4096, 64)}  # table 1
    vocab_size: int = 30000
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    embedding_size: int = 128
    num_hidden_groups: int = 1
    inner_group_num: int = 1

    def __post_init__(self):
        super().__post_init__()
        if (self.num_hidden_groups, self.inner_group_num) != (1, 1) or self.embedding_size < 1:
            raise ValueError("num_hidden_groups and inner_group_num must be 1 here, and embedding_size at least 1")


class FactorisedEmbeddings(Embeddings):
    """BERT's embeddings, E wide, then one matrix to H: V·E + E·H numbers in the place of V·H (§3.1)."""

    def __init__(self, config: AlbertConfig):
        super().__init__(config, config.embedding_size)
        self.projection = nn.Linear(config.embedding_size, config.hidden_size)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        narrow = super().forward(ids, segments, lambda name, x: x if name == "out" else tap(name, x), positions)
        return tap("out", self.projection(tap("narrow", narrow)))  # (B, T, E) → (B, T, H)


def one_block(config: AlbertConfig) -> list[nn.Module]:
    """The same block, L times (§3.1)."""
    return [Block(config)] * config.num_hidden_layers


LAYER = "encoder.albert_layer_groups.0.albert_layers.0"
relative(
    "ALBERT",
    AlbertConfig,
    about="one block for all layers, embeddings E = {embedding_size} wide",
    parts={"embeddings": FactorisedEmbeddings, "blocks": one_block},
    objective=partial(MaskedLanguageModel, second="sop"),
    shape=lambda c: Shape(c, embedding_size=c.embedding_size, shared_layers=True, objective="mlm+sop"),
    names=(
        (r"\bembeddings\.projection\b", "encoder.embedding_hidden_mapping_in"),
        (r"\bblocks\.\d+\.attn\.(query|key|value)\b", rf"{LAYER}.attention.\1"),
        (r"\bblocks\.\d+\.attn\.output\b", f"{LAYER}.attention.dense"),
        (r"\bblocks\.\d+\.attn_norm\b", f"{LAYER}.attention.LayerNorm"),
        (r"\bblocks\.\d+\.mlp\.expand\b", f"{LAYER}.ffn"),
        (r"\bblocks\.\d+\.mlp\.contract\b", f"{LAYER}.ffn_output"),
        (r"\bblocks\.\d+\.mlp_norm\b", f"{LAYER}.full_layer_layer_norm"),
        (r"\bpooler\.dense\b", "pooler"),
        (r"^mlm\.(dense|decoder\.weight)\b", r"predictions.\1"),
        (r"^mlm\.norm\b", "predictions.LayerNorm"),
        (r"^mlm\.decoder\.bias\b", "predictions.bias"),
        (r"^nsp\b", "sop_classifier.classifier"),
    ),
)
