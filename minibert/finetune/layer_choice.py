"""Which of BERT's vectors a head reads, as data (Devlin et al. 2019, table 7). Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass

# name → (which of the embeddings and L layers, how several become one vector). "all_concat" with pooling "cls" is the
# [CLS] of every layer; "weighted" is a learned mixture (Peters et al. 2018).
LAYERS = {
    "last": (slice(-1, None), "one"),
    "embeddings": (slice(1), "one"),
    "second_to_last": (slice(-2, -1), "one"),
    "last_four_concat": (slice(-4, None), "concat"),
    "last_four_sum": (slice(-4, None), "sum"),
    "last_four_weighted": (slice(-4, None), "mix"),
    "all_concat": (slice(None), "concat"),
    "all_sum": (slice(1, None), "sum"),
    "weighted": (slice(None), "mix"),
}


@dataclass(frozen=True)
class LayerChoice:
    """layers: those that are read, 0 the embeddings · how: "one", or how several become one vector: "sum", "concat" or
    "mix" (a learned mean) · width: of that vector · pooling: None for a prediction per token; else "pooler" ([CLS]
    through BERT's own dense layer and tanh), "cls", "mean" or "max" · bilstm: whether one precedes the new layer.
    """

    layers: tuple[int, ...]
    how: str
    width: int
    pooling: str | None
    bilstm: bool


def layers_to_read(
    layers: str, blocks: int, hidden: int, *, pooling: str | None = None, bilstm: bool = False
) -> LayerChoice:
    """blocks: layers of the model · hidden: H · pooling: None for a head per token. ValueError for an unknown name."""
    if layers not in LAYERS:
        raise ValueError(f"layers must be one of {', '.join(LAYERS)}, not {layers!r}")
    chosen, how = LAYERS[layers]
    read = tuple(range(blocks + 1))[chosen]
    if pooling == "cls" and layers == "last" and not bilstm:
        pooling = "pooler"
    return LayerChoice(read, how, hidden * (len(read) if how == "concat" else 1), pooling, bilstm)
