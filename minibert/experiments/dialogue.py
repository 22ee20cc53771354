"""DIET's claim at small scale: intents and entities of ATIS and SNIPS, compared with a joint head on BERT."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from minibert import checkpoint
from minibert.diet.run import DietSettings, adam_optimization, train_diet
from minibert.experiments.events import in_succession
from minibert.experiments.relative_catalogue import DialogueScale, RelativeExperiment
from minibert.experiments.runner import Run
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import ROOT
from minibert.tasks import TASKS, TaskData
from minibert.tasks.sampling import even_sample, spread
from minibert.train import Eval, Event, Optimization

FILES = {"train": "train.md", "test": "test.md"}
MEASURES = {"intent_accuracy": "intent", "entity_f1": "entities", "both": "both"}


def dialogue(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds the data sets which the experiment needs. Each is trained on separately; its metrics
    have its name in front: "atis_intent"."""
    scale = experiment.scale
    data = {name: parts_of(tasks / name, scale) for name in experiment.needs}
    start = ROOT / scale.begins_with

    def learn(name: str, seed: int, train: TaskData, test: TaskData) -> Iterator[Event]:
        options = dict(experiment.arms[name])
        if not options:
            settings = FinetuneSettings(
                epochs=scale.epochs,
                batch_size=scale.batch_size,
                evaluations_per_epoch=1,
                dev_sample=1,
                seed=seed,
                optimization=Optimization(learning_rate=scale.finetune_rate),
                group_by_length=True,
            )
            return finetune(start, "intent", train, test, settings)
        diet = DietSettings(
            **options,
            epochs=scale.epochs,
            batch_first=scale.batch_size,
            batch_last=scale.batch_last,
            seed=seed,
            optimization=replace(adam_optimization(), learning_rate=scale.learning_rate),
            evaluate_every=10**6,
        )
        return train_diet(diet, start, train, test)

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        found = yield from in_succession({known: learn(name, seed, *parts) for known, parts in data.items()})
        metrics = {f"{known}_{title}": last[name] for known, last in found.items() for name, title in MEASURES.items()}
        yield Eval(0, metrics)
        return {
            "data": [f"{known}/{file}" for known in data for file in FILES.values()],
            "examples": {known: len(train.examples) for known, (train, _) in data.items()},
            "measured_on": {known: len(test.examples) for known, (_, test) in data.items()},
            **({} if experiment.arms[name] else {"parameters": weights_of(start)}),
        }

    return run


def parts_of(folder: Path, scale: DialogueScale) -> tuple[TaskData, TaskData]:
    """(train, test): even samples of both files; the training sample keeps an example of every intent."""
    train, test = (TASKS["intent"].read(folder / file) for file in FILES.values())
    chosen = even_sample(train, range(len(train.examples)), scale.examples)
    return train.take(chosen), test.take(spread(len(test.examples), scale.measured))


def weights_of(directory: Path) -> int:
    return sum(weight.numel() for weight in checkpoint.load(directory).parameters())
