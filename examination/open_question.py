"""`open`: students answer in their own words, then compare with a model answer and tick the points they have."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from examination.entry import Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, filled, texts
from examination.words import _


class OpenAnswer(NamedTuple):
    text: str
    ticks: tuple[int, ...] = ()  # indices of points in the rubric


@dataclass(frozen=True)
class OpenQuestionSettings:
    model: str
    rubric: tuple[str, ...]


@dataclass(frozen=True)
class OpenTask(ExamTask):
    model: str
    rubric: tuple[str, ...]


def read(entry: Entry) -> OpenQuestionSettings:
    settings = OpenQuestionSettings(entry.text("model"), entry.texts("rubric", 2))
    if entry.has("points"):
        raise entry.error("an `open` question has a point for each entry of `rubric`; leave `points` out")
    return settings


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> OpenTask:
    settings: OpenQuestionSettings = question.settings
    model = filled(settings.model, values, question.where)
    return OpenTask(
        question,
        *texts(question, values),
        OpenAnswer(model, tuple(range(len(settings.rubric)))),
        (
            Wrong(OpenAnswer("", tuple(range(len(settings.rubric)))), "ticked without an answer"),
            Wrong(OpenAnswer("?"), "none"),
        ),
        model,
        tuple(filled(point, values, question.where) for point in settings.rubric),
    )


def mark(task: OpenTask, answer: OpenAnswer | None) -> Mark:
    """One point per tick; none without a text."""
    of = len(task.rubric)
    if answer is None or not answer.text.strip():
        return Mark(0, of, (_("No answer."),), by_student=True)
    ticks = {tick for tick in answer.ticks if 0 <= tick < of}
    missing = [_("Not ticked: {point}").format(point=p) for i, p in enumerate(task.rubric) if i not in ticks]
    return Mark(len(ticks), of, tuple(missing), by_student=True)


def as_text(task: OpenTask, answer: OpenAnswer | None) -> str:
    return answer.text if answer else ""
