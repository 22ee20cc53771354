"""DIET's claim at small scale: intents and entities of ATIS and SNIPS, compared with a joint head on BERT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from minibert import checkpoint
from minibert.diet.run import DietSettings, adam, train_diet
from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import DialogueScale, RelativeExperiment
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import ROOT
from minibert.tasks import TASKS, TaskData
from minibert.tasks.sampling import even_sample, spread
from minibert.train import Done, Eval, Event, Optimization, Started, Step

FILES = {"train": "train.md", "test": "test.md"}
KEPT = {"intent_accuracy": "intent", "entity_f1": "entities", "both": "both"}


def run_dialogue(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: DialogueScale, command: str, tasks: Path
) -> Iterator[Event]:
    """Like `relatives.run_relative`. tasks: the folder that holds the data sets in `scale.needs`. Each is trained on
    separately; its metrics have its name in front: "atis_intent"."""
    data = {name: parts_of(tasks / name, scale) for name in scale.needs}
    start = ROOT / scale.begins_with

    def learn(name: str, seed: int, train: TaskData, test: TaskData) -> Iterator[Event]:
        options = dict(experiment.arms[name].options)
        if not options:
            settings = FinetuneSettings(
                epochs=scale.epochs, batch_size=scale.batch_size, evaluations_per_epoch=1, dev_sample=1, seed=seed,
                optimization=Optimization(learning_rate=scale.finetune_rate), group_by_length=True,
            )  # fmt: skip
            return finetune(start, "intent", train, test, settings)
        settings = DietSettings(
            **options, epochs=scale.epochs, batch_first=scale.batch_size, batch_last=scale.batch_last, seed=seed,
            optimization=replace(adam(), learning_rate=scale.learning_rate), evaluate_every=10**6,
        )  # fmt: skip
        return train_diet(settings, start, train, test)

    def events(name: str, seed: int) -> Iterator[Event]:
        """The events of the runs on all data sets, as one run."""
        metrics: dict[str, float] = {}
        steps, tokens, seconds = 0, 0, 0.0
        for number, (known, (train, test)) in enumerate(data.items()):
            last: dict[str, float] = {}
            for event in learn(name, seed, train, test):
                if isinstance(event, Started) and number == 0:
                    yield Started({}, {"parameters": event.details.get("parameters") or weights_of(start)})
                elif isinstance(event, Eval):
                    last = event.metrics
                elif isinstance(event, Step):
                    share = (number + event.progress) / len(data)
                    yield replace(event, step=steps + event.step, tokens=tokens + event.tokens, progress=share)
                elif isinstance(event, Done):
                    steps, tokens, seconds = steps + event.step, tokens + event.tokens, seconds + event.seconds
            metrics |= {f"{known}_{KEPT[measure]}": last[measure] for measure in KEPT}
        yield Eval(steps, metrics)
        yield Done(steps, tokens, seconds, metrics)

    def facts(name: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
            "curve": [[e.tokens, round(e.seconds, 1), {"loss": e.loss}] for e in seen if isinstance(e, Step)][::10],
            "data": [f"{known}/{file}" for known in scale.needs for file in FILES.values()],
            "examples": {known: len(train.examples) for known, (train, _) in data.items()},
            "measured_on": {known: len(test.examples) for known, (_, test) in data.items()},
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="dialogue", events=events, facts=facts
    )


def parts_of(folder: Path, scale: DialogueScale) -> tuple[TaskData, TaskData]:
    """(train, test): even samples of both files; the training sample keeps an example of every intent."""
    train, test = (TASKS["intent"].read(folder / file) for file in FILES.values())
    chosen = even_sample(train, range(len(train.examples)), scale.examples)
    return train.take(chosen), test.take(spread(len(test.examples), scale.measured))


def weights_of(directory: Path) -> int:
    return sum(weight.numel() for weight in checkpoint.load(directory).parameters())
