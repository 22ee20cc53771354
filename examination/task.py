"""What all kinds of questions share: the question as in the bank, a task drawn from it, and a mark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from examination.entry import BankError
from examination.words import _


@dataclass(frozen=True)
class ExamQuestion:
    """A question of the bank. `settings`: read by its kind · `where`: names file and question in errors · mark: of its
    table · made_from: of a translation, the mark of the English question (`minibert.text.twins`)."""

    id: str
    part: str
    kind: str
    text: str
    why: str
    points: int
    lesson: str
    query: dict[str, str]
    variants: tuple[dict[str, str], ...]
    settings: Any
    where: str
    mark: str = ""
    made_from: str = ""


@dataclass(frozen=True)
class Wrong:
    """An answer that must not earn full points, and the misunderstanding behind it."""

    answer: Any
    what: str


@dataclass(frozen=True)
class ExamTask:
    """A question with its numbers, names and order drawn. `text` and `why`: the bank's Markdown, filled in."""

    question: ExamQuestion
    text: str
    why: str
    right: Any
    wrong: tuple[Wrong, ...]

    @property
    def id(self) -> str:
        return self.question.id


@dataclass(frozen=True)
class Mark:
    """`points` out of `of`, and comments in Markdown (a student's text in them is escaped).

    by_student: for an open question, whose points the student gives.
    """

    points: float
    of: int
    comments: tuple[str, ...] = ()
    by_student: bool = False

    @property
    def right(self) -> bool:
        return self.points == self.of


def mark_of(task: ExamTask, share: float, *comments: str) -> Mark:
    """This share of the question's points, rounded to hundredths; full points only for a share of 1."""
    of = task.question.points
    points = of if share >= 1 else min(round(of * max(0.0, share), 2), of - 0.01)
    return Mark(points, of, tuple(line for line in comments if line))


def no_answer(task: ExamTask) -> Mark:
    return mark_of(task, 0, _("No answer."))


def filled(text: str, values: Mapping[str, object], where: str) -> str:
    """The text with each placeholder `{{name}}` replaced."""

    def value(match: re.Match) -> str:
        if match[1] not in values:
            known = ", ".join(f"{{{{{name}}}}}" for name in values) or "none"
            raise BankError(f"{where}: there is no {{{{{match[1]}}}}} to fill in; known here: {known}")
        return str(values[match[1]])

    return re.sub(r"\{\{(\w+)\}\}", value, text)


def texts(question: ExamQuestion, values: Mapping[str, object]) -> tuple[str, str]:
    """The question's text and its reason, filled in."""
    return filled(question.text, values, question.where), filled(question.why, values, question.where)


def points_text(points: float) -> str:
    """2, 1.5, 0.33."""
    return f"{points:.2f}".rstrip("0").rstrip(".")
