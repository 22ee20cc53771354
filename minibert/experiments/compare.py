"""Run a comparison: fine-tune the checkpoint once per arm and seed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minibert.experiments.comparisons import REQUIRED, Comparison
from minibert.experiments.runner import run_arms
from minibert.finetune.augmentation import Augmentation
from minibert.finetune.option_effects import FreshLearner
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import TaskData, task_named
from minibert.tasks.sampling import spread
from minibert.train import Event, Optimization
from minibert.training.skip_init import skip_init


def settings_of(values: dict[str, Any], seed: int, **changes: Any) -> FinetuneSettings:
    """The values of `Comparison.values`, which are those of JSON, as settings; `changes` are further fields."""
    values = {name: tuple(one) if isinstance(one, list) else one for name, one in {**values, **changes}.items()}
    rate = values.pop("learning_rate")
    if "augmentation" in values:
        values["augmentation"] = Augmentation(**values["augmentation"])
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
    with skip_init(whole=True):
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
    """Run every arm from the checkpoint `start`, by default with the comparison's seeds, except what `out` already
    holds with the same settings (`run_arms`). folder: of the data."""
    train, dev = read_data(comparison, folder)
    imbalance = dev.imbalance

    def run(arm: str, seed: int) -> Generator[Event, None, dict]:
        settings = settings_of(comparison.values(arm), seed)
        yield from finetune(start, comparison.task, train, dev, settings)
        counted = sizes(start, comparison.task, train, settings)
        return {"trained": counted.trained, "head": counted.head, "parameters": counted.whole}

    def facts(arm: str) -> dict:
        return {
            "task": comparison.task,
            "settings": comparison.values(arm),
            "examples": len(train.examples),
            "measured_on": len(dev.examples),
            "majority": imbalance.majority if imbalance and comparison.task == "classification" else None,
            "data": [comparison.data],
            "model": Path(start).name,
        }

    yield from run_arms(
        comparison.name,
        comparison.arms,
        run,
        facts,
        out,
        seeds=seeds or comparison.seeds,
        required=REQUIRED,
        same=lambda record: record["settings"] == comparison.values(record["arm"]),
        command=command,
        stage=comparison.task,
    )
