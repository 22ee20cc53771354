"""`choose`: one right choice among several, each with a reason, in an order drawn by the seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from examination.entry import Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, filled, mark_of, no_answer, texts


@dataclass(frozen=True)
class AnswerOption:
    text: str
    why: str
    correct: bool = False


@dataclass(frozen=True)
class ChooseSettings:
    choices: tuple[AnswerOption, ...]
    show: int


@dataclass(frozen=True)
class ChooseTask(ExamTask):
    choices: tuple[AnswerOption, ...]


def read(entry: Entry) -> ChooseSettings:
    choices = read_choices(entry)
    return ChooseSettings(choices, entry.integer("show", len(choices), 2, len(choices)))


def read_choices(entry: Entry) -> tuple[AnswerOption, ...]:
    """[[question.choice]]: text, why, and on exactly one `correct = true`."""
    choices = []
    for table in entry.tables("choice", 2):
        choices.append(AnswerOption(table.text("text"), table.text("why"), table.flag("correct")))
        table.close()
    if (right := sum(choice.correct for choice in choices)) != 1:
        raise entry.error(f"exactly one choice must have `correct = true`, not {right}")
    if len({choice.text for choice in choices}) != len(choices):
        raise entry.error("two choices say the same")
    return tuple(choices)


def dealt(
    choices: tuple[AnswerOption, ...], show: int, values: dict[str, str], where: str, rng: random.Random
) -> tuple[AnswerOption, ...]:
    """The right choice and `show` − 1 of the others, shuffled, with placeholders filled in."""
    shown = [
        *(one for one in choices if one.correct),
        *rng.sample([one for one in choices if not one.correct], show - 1),
    ]
    rng.shuffle(shown)
    return tuple(AnswerOption(filled(c.text, values, where), filled(c.why, values, where), c.correct) for c in shown)


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> ChooseTask:
    settings: ChooseSettings = question.settings
    choices = dealt(settings.choices, settings.show, values, question.where, rng)
    return ChooseTask(
        question,
        *texts(question, values),
        right=next(index for index, choice in enumerate(choices) if choice.correct),
        wrong=tuple(Wrong(index, choice.why) for index, choice in enumerate(choices) if not choice.correct),
        choices=choices,
    )


def mark(task: ChooseTask, answer: int | None) -> Mark:
    if not isinstance(answer, int) or not 0 <= answer < len(task.choices):
        return no_answer(task)
    choice = task.choices[answer]
    return mark_of(task, choice.correct, choice.why)


def as_text(task: ChooseTask, answer: int | None) -> str:
    return task.choices[answer].text if answer is not None else ""
