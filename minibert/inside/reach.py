"""How many positions a model was trained on: which of its position embeddings were ever updated."""

from __future__ import annotations

from typing import Any

_SURE = 16  # the first places, which every text has
_FAINT = 0.5  # an embedding at most this fraction of their length is untrained


def trained_positions(model: Any) -> int:
    """The number of trained positions, counted from the first; all that the model has if it has no position embeddings
    (NEZHA), or if none of them is shorter.

    Inferred from the weights: a position that no training text reached keeps its short initial vector.
    """
    table = getattr(getattr(model, "bert", model).embeddings, "position", None)
    if table is None:
        return model.config.longest
    norms = table.weight.detach().float().norm(dim=-1)  # (P,)
    usual = norms[1:_SURE].median()  # [CLS] is at 0, and its length may differ
    return int((norms > _FAINT * usual).nonzero().max()) + 1
