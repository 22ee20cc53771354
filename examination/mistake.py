"""`mistake`: find the wrong line in a few lines of code; its outputs are computed by running it.

The code comes from the bank's files, never from a student: it is as trusted as the rest of the program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from examination.entry import BankError, Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, filled, mark_of, no_answer
from examination.words import _


class Mistake(NamedTuple):
    line: int  # from 1
    code: str
    why: str


@dataclass(frozen=True)
class MistakeSettings:
    setup: str
    code: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    shows: tuple[str, ...]


@dataclass(frozen=True)
class MistakeTask(ExamTask):
    """lines: with the mistake in it · correct: the right line in its place · setup: code that runs before."""

    setup: str
    lines: tuple[str, ...]
    correct: str
    mistake: Mistake
    shows: tuple[str, ...]

    def corrected(self) -> tuple[str, ...]:
        return (*self.lines[: self.right - 1], self.correct, *self.lines[self.right :])

    def candidates(self) -> list[int]:
        """The numbers of the lines that can be picked, from 1."""
        return [number for number, line in enumerate(self.lines, 1) if line.strip()]


class Output(NamedTuple):
    """The value of an expression after the code has run, as text."""

    expression: str
    text: str


def read(entry: Entry) -> MistakeSettings:
    code = tuple(entry.text("code").rstrip().split("\n"))
    mistakes = []
    for table in entry.tables("mistake", 1):
        mistake = Mistake(table.integer("line", None, 1, len(code)), table.text("code").rstrip(), table.text("why"))
        table.close()
        if mistake.code == code[mistake.line - 1]:
            raise table.error("`code` is the right line; write the wrong one")
        mistakes.append(mistake)
    return MistakeSettings(entry.text("setup", " ").strip(), code, tuple(mistakes), entry.texts("shows"))


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> MistakeTask:
    settings: MistakeSettings = question.settings
    mistake = rng.choice(settings.mistakes)
    values = values | {"seed": str(rng.randrange(1000))}

    def fill(text: str) -> str:
        return filled(text, values, question.where)

    code = [fill(line) for line in settings.code]
    correct, code[mistake.line - 1] = code[mistake.line - 1], fill(mistake.code)
    others = [n for n, line in enumerate(code, 1) if line.strip() and n != mistake.line]
    return MistakeTask(
        question,
        fill(question.text),
        fill(question.why),
        mistake.line,
        tuple(Wrong(line, "another line") for line in others),
        fill(settings.setup),
        tuple(code),
        correct,
        Mistake(mistake.line, fill(mistake.code), fill(mistake.why)),
        settings.shows,
    )


def mark(task: MistakeTask, answer: int | None) -> Mark:
    if answer not in task.candidates():
        return no_answer(task)
    if answer == task.right:
        return mark_of(task, 1, task.mistake.why)
    wrong = _("Line {picked} is right. The mistake is in line {line}.").format(picked=answer, line=task.right)
    return mark_of(task, 0, wrong, task.mistake.why)


def outputs(task: MistakeTask, lines: tuple[str, ...]) -> list[Output]:
    """Run setup and lines, and evaluate `task.shows`. An exception is an output, too."""
    space: dict = {}
    try:
        exec(compile(task.setup, f"<setup of {task.id}>", "exec"), space)
    except Exception as error:
        raise BankError(f"{task.question.where}: `setup` does not run: {type(error).__name__}: {error}") from error
    try:
        exec(compile("\n".join(lines), f"<{task.id}>", "exec"), space)
        return [Output(expression, _shown(eval(expression, space))) for expression in task.shows]
    except Exception as error:
        return [Output(expression, f"{type(error).__name__}: {error}") for expression in task.shows]


def _shown(value: object) -> str:
    """A value as `print` shows it; a tensor's numbers have three decimals."""
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        if value.dim() == 0:
            return _shown(value.item())
        numbers = value.detach().numpy()
        if value.is_floating_point():
            numbers = numbers.round(3) + 0.0  # no −0
        return np.array2string(numbers, precision=3, suppress_small=True, floatmode="maxprec_equal")
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def as_text(task: MistakeTask, answer: int | None) -> str:
    return _("line {n}: {code}").format(n=answer, code=task.lines[answer - 1].strip()) if answer else ""
