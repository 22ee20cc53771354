"""Events of experiments, in addition to those of training."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from minibert.train import Done, Eval, Event, Started, Step


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


def within(events: Iterator[Event], low: float, high: float) -> Generator[Event, None, Any]:
    """Yield the events, the progress of Steps and Stages mapped to `low` … `high`; → what `events` returns."""
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value
        if isinstance(event, (Step, Stage)):
            event = replace(event, progress=low + (high - low) * event.progress)
        yield event


def in_succession(runs: Mapping[Any, Iterator[Event]]) -> Generator[Event, None, dict[Any, dict[str, float]]]:
    """Yield the first Started, the Steps and one Done of several runs as of one; → the last metrics of each run."""
    whole, metrics = Done(0, 0, 0.0), {}
    for number, (key, events) in enumerate(runs.items()):
        before = whole
        for event in within(events, number / len(runs), (number + 1) / len(runs)):
            if isinstance(event, Started) and number == 0:
                yield event
            elif isinstance(event, Eval):
                metrics[key] = event.metrics
            elif isinstance(event, (Step, Done)):
                counted = ("step", "tokens", "seconds")
                added = {name: getattr(before, name) + getattr(event, name) for name in counted}
                if isinstance(event, Step):
                    yield replace(event, **added)
                else:
                    whole = Done(**added)
    yield whole
    return metrics


def collected(events: Iterator[Event], into: list[Event]) -> Iterator[Event]:
    """Pass the events on and append each to `into`."""
    for event in events:
        into.append(event)
        yield event


def losses(events: Iterable[Event]) -> list:
    """[tokens, seconds, losses] of some hundred Steps."""
    steps = [event for event in events if isinstance(event, Step)]
    return [
        [event.tokens, round(event.seconds, 1), event.parts or {"loss": event.loss}]
        for event in steps[:: max(1, len(steps) // 100)]
    ]


def curve(events: Iterable[Event]) -> list:
    """[step, metrics] of each Eval, if a run was evaluated on its way, not only before and after; else its `losses`."""
    marks = [[event.step, event.metrics] for event in events if isinstance(event, Eval)]
    return marks if len(marks) > 2 else losses(events)
