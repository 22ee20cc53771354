"""Fine-tuning an arm: the data of a task, the settings, and the metric at the end."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from minibert.experiments.catalogue import DOWNSTREAM, Arm, Scale
from minibert.experiments.events import steps_of
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import TaskData, task_named
from minibert.toy.tasks import meant
from minibert.train import Optimization, Step

TOY_DEV, TOY_SEEDS = 500, (3_000_003, 4_000_003)  # dev examples; seeds of train and dev, unlike those of pre-training
DEV_SAMPLE = 100  # examples evaluated during training; the recorded metrics are of all, at the end


def read_data(name: str, directory: str | Path | None, scale: Scale) -> tuple[TaskData, TaskData]:
    """(train, dev) of a task in `DOWNSTREAM`; of more than `scale.examples` training examples, a fixed random sample.
    Raises TaskDataError for a missing file and for the first bad line."""
    chosen = DOWNSTREAM[name]
    if chosen.files is None:
        return meant(scale.examples, TOY_SEEDS[0]), meant(TOY_DEV, TOY_SEEDS[1])
    if directory is None:
        raise ValueError(f"{name} needs the folder of its data")
    task = task_named(chosen.task)
    train, dev = (task.read(Path(directory, chosen.folder, file), strict=True) for file in chosen.files)
    if len(train.examples) > scale.examples:
        drawn = np.random.default_rng(0).permutation(len(train.examples))[: scale.examples]
        train = train.take(drawn.tolist())
    return (in_iob1(train), in_iob1(dev)) if chosen.task == "tagging" else (train, dev)


def in_iob1(data: TaskData) -> TaskData:
    """Tags as in CoNLL-2003's own files: B- only where a name follows another of its type. A model that has read so
    little learns these better than IOB2, where the first word of each name has a tag of its own: F1 55.3 against 48.9
    (the base, seed 0)."""
    examples = [
        replace(
            example,
            tags=tuple(
                tag if before[2:] == tag[2:] else tag.replace("B-", "I-")
                for before, tag in pairwise(("O", *example.tags))
            ),
        )
        for example in data.examples
    ]
    return replace(data, examples=examples, declared=tuple(data.labels))


def finetuning_settings(arm: Arm, name: str, scale: Scale, seed: int) -> FinetuneSettings:
    """The head reads the mean of the tokens, because [CLS] sees no other token in a left-to-right model. Over frozen
    features there is always a BiLSTM (Devlin et al. 2019, §5.3)."""
    frozen = DOWNSTREAM[name].frozen
    return FinetuneSettings(
        epochs=scale.epochs,
        batch_size=scale.finetune_batch_size,
        max_length=scale.max_length,
        pooling="mean",
        bilstm=arm.bilstm or frozen,
        freeze="all" if frozen else "none",
        dropout=scale.finetune_dropout,
        optimization=Optimization(learning_rate=scale.feature_rate if frozen else scale.finetune_rate),
        seed=seed,
        evaluations_per_epoch=1,
        dev_sample=DEV_SAMPLE,
    )


def finetune_arm(
    start: str | Path, arm: Arm, name: str, data: tuple[TaskData, TaskData], scale: Scale, seed: int
) -> Generator[Step, None, float]:
    """Fine-tune the checkpoint in `start` on one task and yield the Steps; → the task's metric on dev at the end."""
    task = task_named(DOWNSTREAM[name].task)
    last = yield from steps_of(finetune(start, task, *data, finetuning_settings(arm, name, scale, seed)))
    return last.metrics[task.metric]
