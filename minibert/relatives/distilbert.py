"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): every second layer of a BERT, distilled from it. No segments, no
pooler; for its training see `minibert.distillation`. Names and fields as in transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from minibert.config import PRESETS, BertConfig
from minibert.count import Shape
from minibert.model import Embeddings, Tap, no_tap
from minibert.objectives import WithoutPairs
from minibert.relatives.base import Relative
from minibert.relatives.parts.masked_lm import MaskedLm, no_pooler


@dataclass(frozen=True)
class DistilBertConfig(BertConfig):
    model_type: ClassVar[str] = "distilbert"
    presets: ClassVar = {**PRESETS, "base": (6, 768, 12)}
    renamed: ClassVar = {
        "hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
        "hidden_act": "activation", "hidden_dropout_prob": "dropout", "intermediate_size": "hidden_dim",
        "attention_probs_dropout_prob": "attention_dropout",
    }  # fmt: skip
    fixed: ClassVar = {"sinusoidal_pos_embds": False, "layer_norm_eps": 1e-12}
    num_hidden_layers: int = 6


class EmbeddingsWithoutSegments(Embeddings):
    """token + position, LayerNorm, dropout; segments are not read."""

    def __init__(self, config: DistilBertConfig):
        super().__init__(config)
        del self.segment

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        x = tap("sum", tap("token", self.token(ids)) + tap("position", self.places(ids, positions)))  # (B, T, H)
        return tap("out", self.dropout(self.norm(x)))  # (B, T, H)


LAYER, SUMMARY = r"transformer.layer.\1", ((r"^summary\.0\b", "pre_classifier"),)
RELATIVE = Relative(
    "DistilBERT",
    DistilBertConfig,
    prefix="DistilBert",
    about="half the layers of a BERT that taught it; no segments, and no pooler",
    components={"embeddings": EmbeddingsWithoutSegments, "pooler": no_pooler, "summary": nn.ReLU},
    objective=WithoutPairs,
    heads={"ForMaskedLM": MaskedLm},
    shape=lambda c: Shape(c, segments=False, pooler=False, objective="mlm"),
    names=(
        (r"\bblocks\.(\d+)\.attn\.(q|k|v)(?:uery|ey|alue)\b", rf"{LAYER}.attention.\2_lin"),
        (r"\bblocks\.(\d+)\.attn\.output\b", f"{LAYER}.attention.out_lin"),
        (r"\bblocks\.(\d+)\.attn_norm\b", f"{LAYER}.sa_layer_norm"),
        (r"\bblocks\.(\d+)\.mlp\.expand\b", f"{LAYER}.ffn.lin1"),
        (r"\bblocks\.(\d+)\.mlp\.contract\b", f"{LAYER}.ffn.lin2"),
        (r"\bblocks\.(\d+)\.mlp_norm\b", f"{LAYER}.output_layer_norm"),
        (r"^mlm\.dense\b", "vocab_transform"),
        (r"^mlm\.norm\b", "vocab_layer_norm"),
        (r"^mlm\.decoder\b", "vocab_projector"),
    ),
    head_names=dict.fromkeys(("ForSequenceClassification", "ForMultipleChoice"), SUMMARY),
)
