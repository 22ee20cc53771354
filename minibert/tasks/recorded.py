"""Examples as a run's events record them, JSON objects, made examples again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minibert.tasks.base import Task
from minibert.tasks.choices import ChoiceExample
from minibert.tasks.classification import Example
from minibert.tasks.intents import Entity, IntentExample
from minibert.tasks.labels import LabelsExample
from minibert.tasks.pairs import PairExample
from minibert.tasks.similarity import ScoredPair
from minibert.tasks.spans import Answer, SpanExample
from minibert.tasks.tagging import TaggedExample

_TYPES = {
    "classification": Example,
    "pair": PairExample,
    "similarity": ScoredPair,
    "multilabel": LabelsExample,
    "tagging": TaggedExample,
    "span": SpanExample,
    "span-or-none": SpanExample,
    "choice": ChoiceExample,
    "intent": IntentExample,
}
_PARTS = {"answers": Answer, "entities": Entity}


def restored(task: Task, values: Mapping[str, Any]) -> Any:
    """The example of which `values` is dataclasses.asdict, perhaps by way of JSON."""
    fields = dict(values)
    for name, part in _PARTS.items():
        if fields.get(name) is not None:
            fields[name] = tuple(part(**one) for one in fields[name])
    return _TYPES[task.name](**{name: _tuples(value) for name, value in fields.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
