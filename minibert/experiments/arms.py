"""Running the arms of an experiment one after another, with a line of results for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from minibert.experiments.events import Finished, Stage
from minibert.experiments.records import append_record
from minibert.experiments.relative_catalogue import REQUIRED, RelativeExperiment, RelativeScale
from minibert.experiments.results import read_records
from minibert.train import Done, Eval, Event, Started, Step
from minibert.training import machine


def run_arms(
    experiment: RelativeExperiment,
    out: str | Path,
    *,
    seeds: int,
    scale: RelativeScale,
    command: str,
    stage: str,
    events: Callable[[str, int], Iterable[Event]],
    facts: Callable[[str, list[Event]], dict],
) -> Iterator[Event]:
    """Run every arm with seeds 0 … seeds − 1, except what `out` already holds at this scale. Yields Stage, Step,
    Finished, Done.

    events(arm, seed): the events of its run, with a Started, an Eval and, if it is trained, a Done · facts(arm,
    events): fields of its record, which add to those that all records have, or replace them.
    """
    done = {
        (record["arm"], record["seed"]) for record in read_records(out, REQUIRED) if record["scale"] == asdict(scale)
    }
    todo = [(seed, name) for seed in range(seeds) for name in experiment.arms if (name, seed) not in done]
    begun, steps, tokens = time.perf_counter(), 0, 0
    for number, (seed, name) in enumerate(todo):
        low, high = number / len(todo), (number + 1) / len(todo)
        yield Stage(name, seed, stage, low)
        before, seen = time.process_time(), []
        for event in events(name, seed):
            seen.append(event)
            if isinstance(event, Step):
                yield replace(event, progress=low + (high - low) * event.progress)
        begins = next(event for event in seen if isinstance(event, Started))
        ended = next((event for event in seen if isinstance(event, Done)), Done(0, 0, 0.0))
        record = {
            "experiment": experiment.name,
            "arm": name,
            "seed": seed,
            "metrics": [event.metrics for event in seen if isinstance(event, Eval)][-1],
            "scale": asdict(scale),
            "steps": ended.step,
            "tokens": ended.tokens,
            "parameters": begins.details["parameters"],
            "curve": [[e.tokens, round(e.seconds, 1), e.parts] for e in seen if isinstance(e, Step)],
            "seconds": round(time.process_time() - before, 1),  # CPU time, evaluation included
            "finetuning_seconds": 0.0,
            "command": command,
            "machine": machine.description(),
            **facts(name, seen),
        }
        append_record(out, record)
        yield Finished(record, high)
        steps, tokens = steps + ended.step, tokens + ended.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)
