"""Run a comparison: fine-tune the checkpoint once per arm and seed, append a line of results for each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minibert.experiments.comparisons import REQUIRED, Comparison
from minibert.experiments.events import Finished, Stage, steps_of, within
from minibert.experiments.records import append_record, check_writable
from minibert.experiments.results import read_records
from minibert.finetune.option_effects import FreshLearner
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import TaskData, task_named
from minibert.tasks.sampling import spread
from minibert.train import Done, Event, Optimization
from minibert.training import machine


def settings_of(values: dict[str, Any], seed: int, **changes: Any) -> FinetuneSettings:
    """The values of `Comparison.values` as settings; `changes` are further fields."""
    values = {**values, **changes}
    rate = values.pop("learning_rate")
    return FinetuneSettings(**values, seed=seed, optimization=Optimization(learning_rate=rate))


@dataclass(frozen=True)
class ParameterSizes:
    """Numbers of parameters: of the model with its head, of those that are trained, and of those outside BERT."""

    whole: int
    trained: int
    head: int

    @property
    def stored(self) -> int:
        """Numbers to store for a further task: the whole model if BERT itself was trained, else only the head."""
        return self.head if self.trained <= self.head else self.whole


def sizes(start: str | Path, task: str, train_data: TaskData, settings: FinetuneSettings) -> ParameterSizes:
    """The sizes of the model that these settings train."""
    learner = FreshLearner.of(start, task, train_data, settings).learner
    counted = [(name, weight.numel(), weight.requires_grad) for name, weight in learner.model.named_parameters()]
    return ParameterSizes(
        whole=sum(count for _, count, _ in counted),
        trained=sum(count for _, count, trained in counted if trained),
        head=sum(count for name, count, _ in counted if not name.startswith("bert.")),
    )


def read_data(comparison: Comparison, folder: str | Path) -> tuple[TaskData, TaskData]:
    """(train, dev) from `folder`/`comparison.data`; an even sample of at most `comparison.examples` to train on."""
    task = task_named(comparison.task)
    train, dev = (task.read(Path(folder) / comparison.data / name) for name in comparison.files)
    if comparison.examples is not None:
        train = train.take(spread(len(train.examples), comparison.examples))
    return train, dev


def run_comparison(
    comparison: Comparison,
    start: str | Path,
    folder: str | Path,
    out: str | Path,
    *,
    seeds: int | None = None,
    command: str = "",
) -> Iterator[Event]:
    """Run every arm with seeds 0 … seeds − 1 from the checkpoint `start`, seed by seed, except what `out` already holds
    with the same settings. folder: of the data. Yields Stage, Step, Finished, Done."""
    check_writable(out)
    train, dev = read_data(comparison, folder)
    seeds = seeds or comparison.seeds
    done = {
        (record["arm"], record["seed"])
        for record in read_records(out, REQUIRED)
        if record["arm"] in comparison.arms and record["settings"] == comparison.values(record["arm"])
    }
    todo = [(seed, arm) for seed in range(seeds) for arm in comparison.arms if (arm, seed) not in done]
    begun = time.perf_counter()
    steps = tokens = 0
    for number, (seed, arm) in enumerate(todo):
        low, high = number / len(todo), (number + 1) / len(todo)
        yield Stage(arm, seed, comparison.task, low)
        settings = settings_of(comparison.values(arm), seed)
        before = time.process_time()
        last = yield from within(steps_of(finetune(start, comparison.task, train, dev, settings)), low, high)
        counted = sizes(start, comparison.task, train, settings)
        record = {
            "experiment": comparison.name,
            "arm": arm,
            "seed": seed,
            "metrics": last.metrics,
            "task": comparison.task,
            "settings": comparison.values(arm),
            "trained": counted.trained,
            "head": counted.head,
            "parameters": counted.whole,
            "steps": last.step,
            "seconds": round(time.process_time() - before, 1),  # CPU time, so that other processes do not count
            "examples": len(train.examples),
            "measured_on": len(dev.examples),
            "majority": majority(dev) if comparison.task == "classification" else None,
            "data": [comparison.data],
            "model": Path(start).name,
            "command": command,
            "machine": machine.description(),
        }
        append_record(out, record)
        yield Finished(record, high)
        steps, tokens = steps + last.step, tokens + last.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)


def majority(data: TaskData) -> float:
    """The share of the commonest label: the accuracy of always predicting it."""
    return data.imbalance.majority
