"""What ERNIE 2.0 claims of continual multi-task learning, in small: three regimes give every task the same batches, in
another order, and each is asked everything at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from minibert.experiments.events import Finished, Stage
from minibert.experiments.records import append_record
from minibert.experiments.relative_catalogue import REQUIRED, ContinualScale, RelativeExperiment
from minibert.experiments.results import read_records
from minibert.toy.continual import ContinualSettings, train_continually
from minibert.train import Done, Eval, Event, Started, Step
from minibert.training import machine


def settings_of(regime: str, scale: ContinualScale, seed: int) -> ContinualSettings:
    usual = ContinualSettings()
    return replace(
        usual, regime=regime, steps=scale.steps, batch_size=scale.batch_size, stories=scale.stories, asked=scale.asked,
        evaluate_every=scale.steps // 8, seed=seed,
        optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
    )  # fmt: skip


def run_continual(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: ContinualScale, command: str
) -> Iterator[Event]:
    """As `relatives.run_relative`, of arms that differ in the regime."""
    done = {
        (record["arm"], record["seed"]) for record in read_records(out, REQUIRED) if record["scale"] == asdict(scale)
    }
    todo = [(seed, name) for seed in range(seeds) for name in experiment.arms if (name, seed) not in done]
    begun, steps, tokens = time.perf_counter(), 0, 0
    for number, (seed, name) in enumerate(todo):
        low, high = number / len(todo), (number + 1) / len(todo)
        yield Stage(name, seed, "pretrain", low)
        before, seen = time.process_time(), []
        for event in train_continually(settings_of(name, scale, seed)):
            seen.append(event)
            if isinstance(event, Step):
                yield replace(event, progress=low + (high - low) * event.progress)
        begins = next(event for event in seen if isinstance(event, Started))
        ended = next(event for event in seen if isinstance(event, Done))
        record = {
            "experiment": experiment.name,
            "arm": name,
            "seed": seed,
            "metrics": ended.metrics,
            "pretraining": {"plan": begins.details["plan"]},
            "scale": asdict(scale),
            "steps": ended.step,
            "tokens": ended.tokens,
            "parameters": begins.details["parameters"],
            "curve": [[event.step, event.metrics] for event in seen if isinstance(event, Eval)],
            "seconds": round(time.process_time() - before, 1),  # of processors
            "finetuning_seconds": 0.0,
            "data": [f"small toy world, {scale.stories} stories"],
            "command": command,
            "machine": machine.description(),
        }
        append_record(out, record)
        yield Finished(record, high)
        steps, tokens = steps + ended.step, tokens + ended.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)
