"""A sheet: the questions drawn from the bank, with their numbers. The same settings give the same sheet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from examination.bank import ExamPart
from examination.kinds import generate
from examination.task import ExamQuestion, ExamTask, Mark


@dataclass(frozen=True)
class SheetSettings:
    """What a link can set. count: program-marked questions per part · open: whether to add an open one to each part."""

    seed: int
    parts: tuple[str, ...]
    count: int
    open: bool = True

    @property
    def key(self) -> str:
        """Identifies the sheet."""
        return f"{self.seed}/{'-'.join(self.parts)}/{self.count}/{int(self.open)}"


@dataclass(frozen=True)
class SheetSection:
    """A part on the sheet. number: of the part in the bank, from 1."""

    number: int
    part: ExamPart
    tasks: tuple[ExamTask, ...]


def draw_sheet(bank: Sequence[ExamPart], settings: SheetSettings) -> tuple[SheetSection, ...]:
    sections = []
    used_kinds: list[str] = []
    for number, part in enumerate(bank, 1):
        if part.name in settings.parts:
            chosen = draw_questions(part, settings, used_kinds)
            used_kinds += [question.kind for question in chosen]
            sections.append(SheetSection(number, part, tuple(generate(question, settings.seed) for question in chosen)))
    return tuple(sections)


def draw_questions(part: ExamPart, settings: SheetSettings, used_kinds: Sequence[str] = ()) -> list[ExamQuestion]:
    """Questions of as many different kinds as possible, preferring those not in `used_kinds`; in the bank's order, an
    open question last."""
    rng = random.Random(f"{settings.seed}/{part.name}")
    waiting = rng.sample(part.marked, len(part.marked))
    chosen: list[ExamQuestion] = []
    while waiting and len(chosen) < settings.count:
        kinds = [question.kind for question in chosen]
        chosen.append(min(waiting, key=lambda one: (kinds.count(one.kind), used_kinds.count(one.kind))))
        waiting.remove(chosen[-1])
    chosen.sort(key=part.questions.index)
    if settings.open and part.open:
        chosen.append(rng.choice(part.open))
    return chosen


def totals(marks: Sequence[Mark], *, by_student: bool) -> tuple[float, int]:
    """(points, maximum points), of the questions marked by the program or of those marked by the student."""
    some = [mark for mark in marks if mark.by_student == by_student]
    return round(sum(mark.points for mark in some), 2), sum(mark.of for mark in some)
