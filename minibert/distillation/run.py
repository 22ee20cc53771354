"""One run: fine-tune a teacher, then train its student, with the usual fine-tuning loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from minibert.checkpoint import config_values
from minibert.count import parameters
from minibert.distillation.learner import taught_by
from minibert.distillation.teacher_cache import TeacherCache
from minibert.finetune.evaluation import predict_watched
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.relatives import config_from, shape_of
from minibert.tasks import Task, TaskData, task_named
from minibert.train import Eval, Event, Sample, Step
from minibert.training.precision import best_device


@dataclass(frozen=True)
class Teaching(Event):
    """The teacher is still in training. progress: fraction of the whole run."""

    progress: float
    loss: float


@dataclass(frozen=True)
class Taught(Event):
    """The teacher is ready. metrics: on the dev data · seconds: to train it, or to fetch it from the cache."""

    metrics: dict[str, float]
    parameters: int
    seconds: float


@dataclass(frozen=True)
class TeacherSample(Event):
    """The teacher's predictions for the user's inputs; they no longer change."""

    answers: list[dict] = field(default_factory=list)


def distil(
    start: str | Path,
    teacher_start: str | Path,
    task: str | Task,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    teacher_settings: FinetuneSettings,
    *,
    unlabelled: Sequence[Any] = (),
    out: str | Path | None = None,
    probe_inputs: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
    cache: str | Path | None = None,
) -> Iterator[Event]:
    """Fine-tune `teacher_start`, then `start` with it as the teacher, as `finetune` does and with its events.

    unlabelled: further examples, which the teacher labels; their own labels are ignored. Before the student's `Started`
    come `Teaching` events and a `Taught`; both models predict the inputs in `probe_inputs`. cache: a folder of
    fine-tuned teachers, reused for the same start, data and settings. Raises ValueError as `finetune` does.
    """
    task = task_named(task) if isinstance(task, str) else task
    latest = list(probe_inputs)

    def received() -> list:
        messages = mailbox()
        latest[:] = messages[-1] if messages else latest
        return messages

    with TemporaryDirectory() as scratch:
        folder, begun, share = Path(scratch, "teacher"), time.perf_counter(), 0.0  # teacher's share of the whole run
        teachers = TeacherCache(cache, teacher_start, (task.name, train_data, dev_data, teacher_settings))
        metrics = teachers.copy_to(folder)
        if metrics is None:
            work = teacher_settings.epochs * encoder_parameters(teacher_start)
            share = work / (work + settings.epochs * encoder_parameters(start))
            for event in finetune(teacher_start, task, train_data, dev_data, teacher_settings, out=folder):
                if isinstance(event, Step):
                    yield Teaching(share * event.progress, event.loss)
                elif isinstance(event, Eval):
                    metrics = event.metrics
                received()
            teachers.put(folder, metrics or {})
        teacher = Predictor.from_directory(folder)
        teacher.model.to(best_device())
        weights = sum(weight.numel() for weight in teacher.model.parameters())
        yield Taught(metrics or {}, weights, time.perf_counter() - begun)
        data = replace(train_data, examples=[*train_data.examples, *label_with_teacher(teacher, unlabelled)])
        inputs: list = []
        for event in finetune(
            start,
            task,
            data,
            dev_data,
            settings,
            out=out,
            probe_inputs=list(latest),
            mailbox=received,
            wrap=taught_by(folder),
        ):
            if isinstance(event, Step):
                event = replace(event, progress=share + (1 - share) * event.progress)
            if isinstance(event, Sample) and inputs != latest:
                inputs = list(latest)
                yield TeacherSample([predict_watched(teacher, value) for value in inputs])
            yield event


def encoder_parameters(directory: str | Path) -> int:
    """Parameters of the encoder in a folder, a measure of a step's cost when there are few tokens."""
    return parameters(shape_of(config_from(config_values(directory)))).with_pooler


def label_with_teacher(teacher: Predictor, examples: Sequence[Any]) -> list[Any]:
    """The examples with the teacher's predictions instead of their own labels."""
    if not examples:
        return []
    name = teacher.task.answer
    unlabelled = [replace(example, **{name: None}) for example in examples]
    labels = (prediction[name] for prediction in teacher.answers(unlabelled)[0])
    return [
        replace(example, **{name: tuple(label) if isinstance(label, list) else label})
        for example, label in zip(unlabelled, labels, strict=True)
    ]
