"""Which of BERT's vectors a head reads, as data (heads.py; Devlin et al. 2019, table 7). Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayersRead:
    """layers: those that are read, 0 the embeddings · how: "one", or how several become one vector: "sum", "concat" or
    "mix" (a learned mean) · width: of that vector · pooling: None for a prediction per token; else "pooler" ([CLS]
    through BERT's own dense layer and tanh), "cls", "mean" or "max" · bilstm: whether one precedes the new layer.
    """

    layers: tuple[int, ...]
    how: str
    width: int
    pooling: str | None
    bilstm: bool


def reading(layers: str, blocks: int, hidden: int, *, pooling: str | None = None, bilstm: bool = False) -> LayersRead:
    """What `heads.TaskHead` reads with these options. blocks: layers of the model · pooling: None for a head per token.

    Raises ValueError for an unknown name.
    """
    every = range(blocks + 1)
    choices = {
        "last": (every[-1:], "one"),
        "embeddings": (every[:1], "one"),
        "second_to_last": (every[-2:-1], "one"),
        "last_four_concat": (every[-4:], "concat"),
        "last_four_sum": (every[-4:], "sum"),
        "last_four_weighted": (every[-4:], "mix"),
        "all_concat": (every, "concat"),
        "all_sum": (every[1:], "sum"),
        "weighted": (every, "mix"),
    }
    if layers not in choices:
        raise ValueError(f"layers must be one of {', '.join(choices)}, not {layers!r}")
    read, how = choices[layers]
    if pooling == "cls" and layers == "last" and not bilstm:
        pooling = "pooler"
    return LayersRead(tuple(read), how, hidden * (len(read) if how == "concat" else 1), pooling, bilstm)
