"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): every second layer of a BERT, taught by the whole. No segments, no
pooler; how it is taught stands in `minibert.distillation`. Names and fields as in transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from minibert.config import PRESETS, BertConfig
from minibert.count import Shape
from minibert.masked_lm import MaskedLm
from minibert.model import Embeddings, Tap, no_tap
from minibert.objectives import WithoutPairs
from minibert.relatives.registry import relative

FIELDS = {
    "hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim", "hidden_act": "activation", "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
}  # fmt: skip


@dataclass(frozen=True)
class DistilBertConfig(BertConfig):
    """BERT's sizes, half the layers."""

    model_type: ClassVar[str] = "distilbert"
    presets: ClassVar = {**PRESETS, "base": (6, 768, 12)}
    num_hidden_layers: int = 6

    def as_dict(self) -> dict:
        return {FIELDS.get(name, name): value for name, value in super().as_dict().items()}

    @classmethod
    def from_dict(cls, values) -> DistilBertConfig:
        for name, usual in (("sinusoidal_pos_embds", False), ("layer_norm_eps", 1e-12)):
            if values.get(name, usual) != usual:
                raise ValueError(f"{name} is {values[name]!r}; here it is {usual!r}")
        given = {ours: values[theirs] for ours, theirs in FIELDS.items() if theirs in values}
        return super().from_dict({**values, **given})


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
relative(
    "DistilBERT",
    DistilBertConfig,
    prefix="DistilBert",
    about="half the layers of a BERT that taught it; no segments, and no pooler",
    parts={"embeddings": EmbeddingsWithoutSegments, "pooler": lambda config: lambda x: x[:, 0]},  # none, as in ELECTRA
    objective=WithoutPairs,
    heads={"ForMaskedLM": MaskedLm},
    summary=lambda width: nn.Sequential(nn.Linear(width, width), nn.ReLU()),
    shape=lambda c: Shape(c, segments=False, pooler=False, objective="mlm"),
    names=(
        (r"\bblocks\.(\d+)\.attn\.(q|k|v)(?:uery|ey|alue)\b", rf"{LAYER}.attention.\2_lin"),
        (r"\bblocks\.(\d+)\.attn\.output\b", f"{LAYER}.attention.out_lin"),
        (r"\bblocks\.(\d+)\.attn_norm\b", f"{LAYER}.sa_layer_norm"),
        (r"\bblocks\.(\d+)\.mlp\.expand\b", f"{LAYER}.ffn.lin1"),
        (r"\bblocks\.(\d+)\.mlp\.contract\b", f"{LAYER}.ffn.lin2"),
        (r"\bblocks\.(\d+)\.mlp_norm\b", f"{LAYER}.output_layer_norm"),
        *(
            (rf"^mlm\.{a}\b", f"vocab_{b}")
            for a, b in (("dense", "transform"), ("norm", "layer_norm"), ("decoder", "projector"))
        ),
    ),
    head_names=dict.fromkeys(("ForSequenceClassification", "ForMultipleChoice"), SUMMARY),
)
