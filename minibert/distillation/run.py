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
    """The teacher's answers to the user's inputs; they no longer change."""

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
    watch: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
    cache: str | Path | None = None,
) -> Iterator[Event]:
    """Fine-tune `teacher_start`, then `start` with it as the teacher, as `finetune` does and with its events.

    unlabelled: further examples, which the teacher labels; their own labels are ignored. Before the student's `Started`
    come `Teaching` events and a `Taught`; both models answer the user's inputs. cache: a folder that keeps fine-tuned
    teachers: with the same start, data and settings none is trained again. Raises ValueError as `finetune` does.
    """
    task = task_named(task) if isinstance(task, str) else task
    latest = list(watch)

    def received() -> list:
        messages = mailbox()
        latest[:] = messages[-1] if messages else latest
        return messages

    with TemporaryDirectory() as scratch:
        folder, begun, share = Path(scratch, "teacher"), time.perf_counter(), 0.0  # teacher's share of the whole run
        teachers = None if cache is None else TeacherCache(cache)
        place = teachers and teachers.place(teacher_start, (task.name, train_data, dev_data, teacher_settings))
        measured = teachers and teachers.take(place, folder)
        if measured is None:
            work = teacher_settings.epochs * encoder_parameters(teacher_start)
            share = work / (work + settings.epochs * encoder_parameters(start))
            for event in finetune(teacher_start, task, train_data, dev_data, teacher_settings, out=folder):
                if isinstance(event, Step):
                    yield Teaching(share * event.progress, event.loss)
                elif isinstance(event, Eval):
                    measured = event.metrics
                received()
            if teachers:
                teachers.put(place, folder, measured)
        teacher = Predictor.from_directory(folder)
        teacher.model.to(best_device())
        weights = sum(weight.numel() for weight in teacher.model.parameters())
        yield Taught(measured, weights, time.perf_counter() - begun)
        data = with_more(train_data, teacher, unlabelled)
        inputs: list = []
        for event in finetune(
            start, task, data, dev_data, settings, out=out, watch=list(latest), mailbox=received, wrap=taught_by(folder)
        ):
            if isinstance(event, Step):
                event = replace(event, progress=share + (1 - share) * event.progress)
            if isinstance(event, Sample) and inputs != latest:
                inputs = list(latest)
                yield TeacherSample([predict_watched(teacher, given) for given in inputs])
            yield event


def encoder_parameters(directory: str | Path) -> int:
    """Parameters of the encoder in a folder, a measure of a step's cost when there are few tokens."""
    return parameters(shape_of(config_from(config_values(directory)))).with_pooler


def with_more(data: TaskData, teacher: Predictor, unlabelled: Sequence[Any]) -> TaskData:
    """The data, followed by the unlabelled examples with the teacher's labels."""
    return replace(data, examples=[*data.examples, *label_with_teacher(teacher, unlabelled)])


def label_with_teacher(teacher: Predictor, examples: Sequence[Any]) -> list[Any]:
    """The examples with the teacher's answers instead of their own labels."""
    if not examples:
        return []
    name = teacher.task.answer
    bare = [replace(example, **{name: None}) for example in examples]
    said = (answer[name] for answer in teacher.answers(bare)[0])
    return [
        replace(example, **{name: tuple(answer) if isinstance(answer, list) else answer})
        for example, answer in zip(bare, said, strict=True)
    ]
