"""The losses of a distillation and their weights. Needs no torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

LOSSES = ("soft", "labels", "attention", "hidden", "embeddings", "cosine", "attention_relation", "value_relation")
INSIDE = LOSSES[2:]


@dataclass(frozen=True)
class Distillation:
    """The weight of each loss in `distillation/losses.py`; a loss with weight 0 is not computed.

    labels: the task's own loss, on the labels · soft: on the teacher's answers at `temperature` · attention, hidden,
    embeddings: TinyBERT's, for each layer of the student · cosine: DistilBERT's, for the last layer ·
    attention_relation, value_relation: MiniLM's, for the last layer.
    """

    labels: float = 0.0
    soft: float = 1.0
    temperature: float = 1.0
    attention: float = 0.0
    hidden: float = 0.0
    embeddings: float = 0.0
    cosine: float = 0.0
    attention_relation: float = 0.0
    value_relation: float = 0.0

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise ValueError(f"the temperature must be a number above 0, not {self.temperature}")
        for name, weight in self.weights.items():
            if not (weight >= 0 and math.isfinite(weight)):
                raise ValueError(f"the weight of the loss {name!r} must be a number of at least 0, not {weight}")
        if not any(self.weights.values()):
            raise ValueError("every loss has the weight 0: nothing would be learned")

    @property
    def weights(self) -> Mapping[str, float]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "temperature"}

    @property
    def inside(self) -> tuple[str, ...]:
        """The losses on what is inside the models, not only on their answers."""
        return tuple(name for name in INSIDE if getattr(self, name))


def distillation_of(losses: Sequence[str], temperature: float = 1.0) -> Distillation:
    """Exactly these losses, with equal weights."""
    return Distillation(**{"soft": 0.0, **dict.fromkeys(losses, 1.0)}, temperature=temperature)
