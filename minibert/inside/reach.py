"""How far a model has learned to read: which of its position embeddings training has ever touched."""

from __future__ import annotations

from torch import nn

_SURE = 16  # the first places, which every text has
_FAINT = 0.5  # an embedding half as long as those, or shorter, is as it was at the start


def trained_positions(model: nn.Module) -> int:
    """How many places of a text, from the first, the model has learned; all it can read if it has no embeddings of
    positions, as NEZHA, or if none stands out.

    Told from the weights: a place that no training text reached keeps the short vector it began with.
    """
    table = getattr(getattr(model, "bert", model).embeddings, "position", None)
    if table is None:
        return model.config.longest
    norms = table.weight.detach().float().norm(dim=-1)  # (P,)
    usual = norms[1:_SURE].median()  # [CLS] stands at 0, and may be as long as it likes
    return int((norms > _FAINT * usual).nonzero().max()) + 1
