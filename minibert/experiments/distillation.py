"""Claims of DistilBERT, TinyBERT and MiniLM at small scale: a fine-tuned large model teaches a small one."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from minibert import checkpoint
from minibert.distillation.learner import taught_by
from minibert.distillation.run import label_with_teacher
from minibert.experiments.relative_catalogue import DistillationScale, RelativeExperiment
from minibert.experiments.runner import Run
from minibert.finetune.distillation import Distillation
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import ROOT
from minibert.inside.costs.cost import answers, in_int8, measure
from minibert.tasks import TASKS, TaskData
from minibert.train import Eval, Event, Optimization

FILES = {"train": "train.tsv", "dev": "dev.tsv"}
TIMED = 100  # dev texts, timed one by one
TEACHER = "teacher"


def distillation(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds sst2/. Each seed draws its sentences and fine-tunes its own teacher; all students
    read equally many rows, except in the arms with more unlabelled sentences."""
    scale, task = experiment.scale, TASKS["classification"]
    train, dev = (task.read(tasks / "sst2" / file) for file in FILES.values())

    def drawn(seed: int, unlabelled: int) -> tuple[TaskData, list]:
        """(labelled examples, unlabelled ones)."""
        order = np.random.default_rng(seed).permutation(len(train.examples)).tolist()
        some, rest = order[: scale.labelled], order[scale.labelled : scale.labelled + unlabelled]
        return train.take(some), [replace(train.examples[i], label=None) for i in rest]

    def teacher_of(seed: int) -> Path:
        """The teacher of this seed, fine-tuned at the first call."""
        teacher = folder / f"teacher-{seed}"
        if not teacher.exists():
            list(learned(TEACHER, seed, teacher))
        return teacher

    def learned(name: str, seed: int, where: Path) -> Iterator[Event]:
        options = dict(experiment.arms[name])
        unlabelled = round(options.pop("times", 1) * scale.unlabelled)
        data, more = drawn(seed, unlabelled)
        if name == TEACHER:
            settings = settings_of(scale, seed, scale.teacher_epochs, scale.teacher_rate)
            return finetune(ROOT / scale.teacher, task, data, dev, settings, out=where)
        epochs = options.pop("epochs", scale.epochs)
        rows, wrap = epochs * (scale.labelled + unlabelled), None
        if options:
            teacher = teacher_of(seed)
            wrap = taught_by(teacher)
            if options.pop("more", True):
                known = label_with_teacher(Predictor.from_directory(teacher), more)
                data = replace(data, examples=[*data.examples, *known])
            options = {"distillation": Distillation(**options)}
        epochs = rows // len(data.examples)
        settings = replace(settings_of(scale, seed, epochs, scale.learning_rate), **options)
        return finetune(ROOT / scale.begins_with, task, data, dev, settings, out=where, wrap=wrap)

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        where = folder / (f"teacher-{seed}" if name == TEACHER else "student")
        begins = scale.teacher if name == TEACHER else scale.begins_with
        yield from learned(name, seed, where)
        yield Eval(0, measured(Predictor.from_directory(where), dev))
        return {
            "pretraining": {"begins_with": begins, **experiment.arms[name]},
            "parameters": sum(weight.numel() for weight in checkpoint.load(ROOT / begins).bert.parameters()),
            "data": [f"sst2/{file}" for file in FILES.values()],
        }

    return run


def settings_of(scale: DistillationScale, seed: int, epochs: int, rate: float) -> FinetuneSettings:
    return FinetuneSettings(
        epochs=epochs,
        batch_size=scale.batch_size,
        optimization=Optimization(learning_rate=rate),
        pooling="mean",
        averaging=0.5,
        group_by_length=True,
        evaluations_per_epoch=1,
        seed=seed,
    )


def measured(predictor: Predictor, dev: TaskData) -> dict[str, float]:
    """Accuracy, size and milliseconds, as it is and in int8; changed_int8: share of predictions that int8 changes."""
    predictor = replace(predictor, model=predictor.model.cpu().eval())
    small = in_int8(predictor)
    truth = [predictor.labels.index(example.label) for example in dev.examples]
    said = {"": answers(predictor, dev.examples), "_int8": answers(small, dev.examples)}
    costs = measure(
        {"": (predictor.model, predictor.tokenizer), "_int8": (small.model, small.tokenizer)},
        [example.text for example in dev.examples[:TIMED]],
    )
    found = {"changed_int8": len(said["_int8"].changed_from(said[""])) / len(truth)}
    for kind, one in said.items():
        right = (one.scores.argmax(-1) == one.scores.new_tensor(truth).long()).float().mean().item()
        cost = costs[kind]
        found |= {
            f"accuracy{kind}": right,
            f"megabytes{kind}": cost.megabytes,
            f"milliseconds{kind}": cost.milliseconds,
        }
    return found
