"""What can be cut out of a fine-tuned model, before and after further training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import PruningScale, RelativeExperiment
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import ROOT
from minibert.pruning.run import Pruning, measured, pruned, retrain
from minibert.tasks import TASKS, TaskData
from minibert.train import Eval, Event, Optimization, Started, Step

FILES = {"train": "train.tsv", "dev": "dev.tsv"}
TASK = TASKS["classification"]


def run_pruning(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: PruningScale, command: str, tasks: Path
) -> Iterator[Event]:
    """Like `relatives.run_relative`. tasks: the folder that holds sst2/. Each seed draws its sentences and fine-tunes
    one model, which every arm prunes."""
    train, dev = (TASK.read(tasks / "sst2" / file) for file in FILES.values())
    with TemporaryDirectory() as folder:

        def events(name: str, seed: int) -> Iterator[Event]:
            data, whole = drawn(train, scale.labelled, seed), Path(folder) / f"whole-{seed}"
            if not whole.exists():
                list(finetune(ROOT / scale.begins_with, TASK, data, dev, settings_of(scale, seed), out=whole))
            whole = Predictor.from_directory(whole)
            small, masks = pruned(whole, Pruning(**experiment.arms[name].options), data.examples)
            cost = measured(small, dev)
            yield Started({}, {"parameters": cost["parameters"]})
            again = settings_of(scale, seed, again=True)
            for event in retrain(small, data.take(list(range(scale.again))), dev, again, masks=masks):
                if isinstance(event, Step):
                    yield event
            beside = {key: cost[key] for key in ("milliseconds", "megabytes", "compressed")}
            yield Eval(event.step, {"accuracy": event.metrics["accuracy"], "before": cost["accuracy"], **beside})
            yield event

        yield from run_on_sst2(experiment, out, seeds, scale, command, events)


def run_on_sst2(
    experiment: RelativeExperiment, out: str | Path, seeds: int, scale: PruningScale, command: str,
    events: Callable[[str, int], Iterable[Event]], facts: Callable[[str], dict] = lambda name: {},
) -> Iterator[Event]:  # fmt: skip
    """Run arms on SST-2, with the same facts in all their records; facts(arm): further ones."""

    def told(name: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
            "curve": [],
            "data": [f"sst2/{file}" for file in FILES.values()],
            **facts(name),
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage=experiment.name, events=events, facts=told
    )


def drawn(train: TaskData, count: int, seed: int) -> TaskData:
    return train.take(np.random.default_rng(seed).permutation(len(train.examples))[:count].tolist())


def settings_of(scale: PruningScale, seed: int, again: bool = False, epochs: int = 0) -> FinetuneSettings:
    rate = scale.again_rate if again else scale.learning_rate
    return FinetuneSettings(
        epochs=1 if again else epochs or scale.epochs, batch_size=scale.batch_size, pooling="mean",
        group_by_length=True, optimization=Optimization(learning_rate=rate), evaluations_per_epoch=1, seed=seed,
    )  # fmt: skip
