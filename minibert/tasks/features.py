"""The rows of a model's input, and their batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Features:
    """One row of the model's input, made from example number `example`.

    target: the ground truth as the loss takes it, None if unknown · metadata: the index of each metadata column's value
    · auxiliary: the index of each auxiliary target's class.
    """

    example: int
    ids: list[int]
    segments: list[int]
    target: Any = None
    metadata: tuple[int, ...] = ()
    auxiliary: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def length(self) -> int:
        return len(self.ids)


def padded(features: Sequence[Features], pad_id: int) -> dict[str, Any]:
    """Tensors of a batch as wide as its longest row: ids, segments, padding (True for real tokens; None if all are),
    metadata."""
    import torch

    from minibert.text.batches import padded as table

    ids, segments = table([row.ids for row in features], pad_id), table([row.segments for row in features], 0)
    real = torch.arange(ids.size(1)) < torch.tensor([[row.length] for row in features])
    metadata = torch.tensor([row.metadata for row in features]) if features[0].metadata else None
    return {"ids": ids, "segments": segments, "padding": None if real.all() else real, "metadata": metadata}


def target_tensor(targets: Sequence[Any]) -> Tensor | None:
    """Targets that are numbers, (N,), or lists of them, (N, K). A row without a target is −100, NaN among lists of
    floats; None if no row has one."""
    import torch

    from minibert.model import IGNORE

    known = next((target for target in targets if target is not None), None)
    if known is None:
        return None
    unknown: Any = IGNORE
    if isinstance(known, list):
        unknown = [float("nan") if all(isinstance(one, float) for one in known) else IGNORE] * len(known)
    return torch.tensor([unknown if target is None else target for target in targets])
