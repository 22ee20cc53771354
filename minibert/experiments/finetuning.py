"""Fine-tuning an arm: the data of a task, the settings, and the metric at the end."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from minibert.experiments.catalogue import DOWNSTREAM, Arm, Scale
from minibert.experiments.events import steps_of
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import TaskData, task_named
from minibert.toy.tasks import meant
from minibert.train import Optimization, Step

TOY_DEV, TOY_SEEDS = 500, (3_000_003, 4_000_003)  # dev examples; seeds of train and dev, unlike those of pre-training
DEV_SAMPLE = 100  # examples evaluated during training; the recorded metrics are of all, at the end


def read_data(scale: Scale) -> tuple[TaskData, TaskData]:
    """(train, dev) of all tasks in `DOWNSTREAM`: who or what is meant."""
    return meant(scale.examples, TOY_SEEDS[0]), meant(TOY_DEV, TOY_SEEDS[1])


def finetuning_settings(arm: Arm, name: str, scale: Scale, seed: int) -> FinetuneSettings:
    """Over frozen features there is always a BiLSTM (Devlin et al. 2019, §5.3)."""
    frozen = DOWNSTREAM[name]
    return FinetuneSettings(
        epochs=scale.epochs,
        batch_size=scale.finetune_batch_size,
        max_length=scale.max_length,
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
    task = task_named("span")
    last = yield from steps_of(finetune(start, task, *data, finetuning_settings(arm, name, scale, seed)))
    return last.metrics[task.metric]
