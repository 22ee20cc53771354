"""Data sent to our attention views: weights as single bytes, edges as integers, all base64 in JSON.

A byte holds a weight to 1/255, finer than a line's opacity or a pixel can show; after a click the exact number comes
from the model. BertViz sends every weight as decimal text, about 22 characters each.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

import numpy as np

from plots.theme import BLUE, GREEN, ORANGE, PINK, SKY, VERMILION

HEAD_COLOURS = (
    *(BLUE, VERMILION, GREEN, PINK, ORANGE, SKY),
    *("#7A5195", "#8A8F98", "#B8860B", "#117733", "#AA4499", "#44739E"),  # Tol 2021, for models of more heads
)


def packed(values: np.ndarray) -> str:
    """The bytes of an array, in C order and its own dtype, as base64 text."""
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def as_bytes(weights) -> np.ndarray:
    """Weights 0 … 1 as 0 … 255."""
    return np.round(np.clip(np.asarray(weights, dtype=np.float32), 0, 1) * 255).astype(np.uint8)


def heads_payload(
    small,
    labels: Sequence[str],
    titles: Sequence[str],
    *,
    selected: tuple[int, int] | None = None,
    crossed: Sequence[tuple[int, int]] = (),
) -> dict:
    """All heads as small pictures. small: (L, A, s, s) · labels, titles: L · A each · crossed: (layer, head)s."""
    layers, heads, size, _ = np.shape(small)
    return {
        "layers": layers,
        "heads": heads,
        "size": size,
        "weights": packed(as_bytes(small)),
        "labels": list(labels),
        "titles": list(titles),
        "selected": None if selected is None else selected[0] * heads + selected[1],
        "crossed": [layer * heads + head for layer, head in crossed],
    }


def lines_payload(
    tokens: Sequence[str],
    edges,
    heads: Sequence[int],
    *,
    faint: Sequence[bool] = (),
    row: int | None = None,
    column: int | None = None,
) -> dict:
    """Edges of some heads of a layer. edges: attention_summary.Edges · faint: whether each token is drawn faintly."""
    return {
        "tokens": list(tokens),
        "faint": list(faint) or [False] * len(tokens),
        "heads": list(heads),
        "colours": [HEAD_COLOURS[head % len(HEAD_COLOURS)] for head in heads],
        "counts": packed(np.asarray(edges.counts, dtype="<u2")),
        "columns": packed(np.asarray(edges.columns, dtype="<u2")),
        "weights": packed(as_bytes(edges.weights)),
        "row": row,
        "column": column,
    }


def matrix_payload(tokens: Sequence[str], probs, *, row: int | None = None, column: int | None = None) -> dict:
    """The full matrix of one head. probs: (T, T)."""
    return {"tokens": list(tokens), "weights": packed(as_bytes(probs)), "row": row, "column": column}
