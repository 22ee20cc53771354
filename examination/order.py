"""`order`: steps to put into the right order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from examination.entry import Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, filled, mark_of, no_answer, texts
from examination.words import _


@dataclass(frozen=True)
class OrderSettings:
    steps: tuple[str, ...]
    show: int


@dataclass(frozen=True)
class OrderTask(ExamTask):
    """steps: in the right order · start: their indices, in the order shown at first."""

    steps: tuple[str, ...]
    start: tuple[int, ...]


def read(entry: Entry) -> OrderSettings:
    steps = entry.texts("steps", 3)
    return OrderSettings(steps, entry.integer("show", len(steps), 3, len(steps)))


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> OrderTask:
    settings: OrderSettings = question.settings
    shown = sorted(rng.sample(range(len(settings.steps)), settings.show))
    steps = tuple(filled(settings.steps[index], values, question.where) for index in shown)
    right = tuple(range(len(steps)))
    start = right
    while start == right:
        start = tuple(rng.sample(right, len(right)))
    swapped = list(right)
    place = rng.randrange(len(steps) - 1)
    swapped[place : place + 2] = swapped[place + 1], swapped[place]
    return OrderTask(
        question,
        *texts(question, values),
        right,
        (
            Wrong(start, "left as it was shown"),
            Wrong(right[::-1], "from the end to the beginning"),
            Wrong(tuple(swapped), "two neighbours exchanged"),
        ),
        steps,
        start,
    )


def mark(task: OrderTask, answer: Sequence[int] | None) -> Mark:
    """Pairs of steps in the right order minus pairs in the wrong order, over all pairs; at least 0."""
    if answer is None or sorted(answer) != list(task.right):
        return no_answer(task)
    pairs = list(combinations(answer, 2))
    turned = [(later, earlier) for later, earlier in pairs if later > earlier]
    comment = ""
    if turned:
        later, earlier = min(turned, key=lambda pair: (pair[0] - pair[1], pair))
        comment = _("“{earlier}” comes before “{later}”. The right order is shown below.").format(
            earlier=task.steps[earlier], later=task.steps[later]
        )
    return mark_of(task, 1 - 2 * len(turned) / len(pairs), comment)


def as_text(task: OrderTask, answer: Sequence[int] | None) -> str:
    return "\n".join(f"{place}. {task.steps[step]}" for place, step in enumerate(answer or (), 1))
