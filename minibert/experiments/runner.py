"""The runner of all experiments: each arm with each seed, a line of results for each, and none made twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import Any

from minibert.experiments.events import Finished, Stage, collected, curve, within
from minibert.experiments.records import agrees, append_record, as_recorded, check_writable
from minibert.experiments.results import read_records
from minibert.train import Done, Eval, Event, Started, Step
from minibert.training import machine

Run = Callable[[str, int], Generator[Event, None, dict | None]]


def run_arms(
    name: str,
    arms: Collection[str],
    run: Run,
    facts: Callable[[str], dict],
    out: str | Path,
    *,
    seeds: int,
    required: set[str],
    scale: Any = None,
    same: Callable[[dict], bool] = lambda record: True,
    command: str = "",
    stage: str | None = None,
) -> Iterator[Event]:
    """Run every arm with seeds 0 … seeds − 1, except what `out` already holds, and append a line of JSON to `out` for
    each. Seed by seed, so that an interrupted experiment has compared all arms on the seeds it has finished. Yields
    Stage, Step (progress is the whole experiment's), Finished, Done.

    run(arm, seed): the events of its run, of which the first Started tells the `parameters`, the last Eval the metrics
    and the last Done the steps. What it returns, and facts(arm), are further facts of the record, or replace those that
    all records have · scale, same(record): what a record must agree with to count as done · required: fields of every
    record in `out` · stage: of the Stage with which an arm begins, None if `run` yields its own.
    """
    check_writable(out)
    of_scale = [one for one in read_records(out, required) if scale is None or agrees(one["scale"], scale)]
    done = {(one["arm"], one["seed"]) for one in of_scale if one["arm"] in arms and same(one)}
    todo = [(seed, arm) for seed in range(seeds) for arm in arms if (arm, seed) not in done]
    # One scale for all lines of an experiment: pages compare records whose scales are equal.
    at_scale = {} if scale is None else {"scale": of_scale[-1]["scale"] if of_scale else as_recorded(scale)}
    begun, steps, tokens = time.perf_counter(), 0, 0
    for number, (seed, arm) in enumerate(todo):
        low, high = number / len(todo), (number + 1) / len(todo)
        if stage is not None:
            yield Stage(arm, seed, stage, low)
        before, events, more = time.process_time(), list[Event](), dict[str, Any]()
        for event in collected(within(_noted(run(arm, seed), more), low, high), events):
            if isinstance(event, (Step, Stage)):
                yield event
        started = next((event for event in events if isinstance(event, Started)), Started({}))
        ended = next((event for event in reversed(events) if isinstance(event, Done)), Done(0, 0, 0.0))
        record = {
            "experiment": name,
            "arm": arm,
            "seed": seed,
            "metrics": [event.metrics for event in events if isinstance(event, Eval)][-1],
            **at_scale,
            "steps": ended.step,
            "tokens": ended.tokens,
            "parameters": started.details.get("parameters"),
            "curve": curve(events),
            "seconds": round(time.process_time() - before, 1),  # CPU time, so that other processes do not count
            "finetuning_seconds": 0.0,
            "command": command,
            "machine": machine.description(),
            **facts(arm),
            **more,
        }
        append_record(out, record)
        yield Finished(record, high)
        steps, tokens = steps + ended.step, tokens + ended.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)


def _noted(events: Generator[Event, None, dict | None], more: dict) -> Iterator[Event]:
    """Yield the events, and add what `events` returns to `more`."""
    more.update((yield from events) or {})
