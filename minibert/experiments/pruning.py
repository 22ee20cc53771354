"""What can be cut out of a fine-tuned model, before and after further training."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import numpy as np

from minibert.experiments.events import steps_of
from minibert.experiments.relative_catalogue import PruningScale, RelativeExperiment
from minibert.experiments.runner import Run
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import ROOT
from minibert.pruning.run import Pruning, measured, pruned, retrain
from minibert.tasks import TASKS, TaskData
from minibert.train import Eval, Event, Optimization

FILES = {"train": "train.tsv", "dev": "dev.tsv"}
DATA = [f"sst2/{file}" for file in FILES.values()]
TASK = TASKS["classification"]


def pruning(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds sst2/. Each seed draws its sentences and fine-tunes one model, which every arm
    prunes."""
    scale = experiment.scale
    train, dev = (TASK.read(tasks / "sst2" / file) for file in FILES.values())

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        data, whole = drawn(train, scale.labelled, seed), folder / f"whole-{seed}"
        if not whole.exists():
            list(finetune(ROOT / scale.begins_with, TASK, data, dev, settings_of(scale, seed), out=whole))
        small, masks = pruned(Predictor.from_directory(whole), Pruning(**experiment.arms[name]), data.examples)
        cost = measured(small, dev)
        again = settings_of(scale, seed, again=True)
        done = yield from steps_of(retrain(small, data.take(list(range(scale.again))), dev, again, masks=masks))
        yield done
        beside = {key: cost[key] for key in ("milliseconds", "megabytes", "compressed")}
        yield Eval(done.step, {"accuracy": done.metrics["accuracy"], "before": cost["accuracy"], **beside})
        return {"parameters": cost["parameters"], "data": DATA}

    return run


def drawn(train: TaskData, count: int, seed: int) -> TaskData:
    return train.take(np.random.default_rng(seed).permutation(len(train.examples))[:count].tolist())


def settings_of(scale: PruningScale, seed: int, again: bool = False, epochs: int = 0) -> FinetuneSettings:
    rate = scale.again_rate if again else scale.learning_rate
    return FinetuneSettings(
        epochs=1 if again else epochs or scale.epochs,
        batch_size=scale.batch_size,
        pooling="mean",
        group_by_length=True,
        optimization=Optimization(learning_rate=rate),
        evaluations_per_epoch=1,
        seed=seed,
    )
