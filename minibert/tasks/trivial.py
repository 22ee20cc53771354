"""What an answer that reads nothing would score: the line that a model has to beat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def trivial_score(task: str, examples: Sequence[Mapping[str, Any]]) -> float | None:
    """The headline metric of `task` for always answering alike: the commonest class or label, a choice at random (on
    average), no answer. None where that scores nothing: correlation, entities, spans, intent and entities together.

    examples: as in the details of a run's `Started`.
    """
    count = len(examples)
    if not count:
        return None
    if task in ("classification", "pair"):
        return max(Counter(one["label"] for one in examples).values()) / count
    if task == "choice":
        return sum(1 / len(one["choices"]) for one in examples) / count
    if task == "span-or-none":
        return sum(not one["answers"] for one in examples) / count
    if task == "multilabel":
        labels = Counter(label for one in examples for label in one["labels"] or ())
        # micro F1 = 2 · hits / (answers + labels)
        return 2 * max(labels.values(), default=0) / (count + labels.total())
    return None
