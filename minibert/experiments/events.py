"""Events of experiments, in addition to those of training."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from minibert.train import Done, Event, Step


@dataclass(frozen=True)
class Stage(Event):
    """A part of an experiment begins. stage: "pretrain" or the name of a task."""

    arm: str
    seed: int
    stage: str
    progress: float


@dataclass(frozen=True)
class Finished(Event):
    """An arm is finished for one seed; `record` is its line in the results."""

    record: dict
    progress: float


def steps_of(events: Iterator[Event]) -> Generator[Step, None, Done]:
    """Yield the Steps of a run; → its Done, once the generator ends: after Done, runs may still measure and save."""
    done = None
    for event in events:
        if isinstance(event, Step):
            yield event
        elif isinstance(event, Done):
            done = event
    if done is None:
        raise RuntimeError("the run ended without saying so")
    return done


def within(events: Iterator[Step], low: float, high: float) -> Generator[Step, None, Any]:
    """Yield the Steps with their progress mapped to `low` … `high`; → what `events` returns."""
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value
        yield replace(event, progress=low + (high - low) * event.progress)
