"""A sheet: which questions of the bank stand on it, with which numbers. The same settings give the same sheet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from examination.bank import Part
from examination.kinds import generate
from examination.task import Mark, Question, Task


@dataclass(frozen=True)
class SheetSettings:
    """What a link can set. count: questions a part that a program marks · open: whether an open one comes with them."""

    seed: int
    parts: tuple[str, ...]
    count: int
    open: bool = True

    @property
    def key(self) -> str:
        """Tells sheets apart."""
        return f"{self.seed}/{'-'.join(self.parts)}/{self.count}/{int(self.open)}"


@dataclass(frozen=True)
class Section:
    """A part of the sheet. number: the part's in the bank, from 1."""

    number: int
    part: Part
    tasks: tuple[Task, ...]


def draw_sheet(bank: Sequence[Part], settings: SheetSettings) -> tuple[Section, ...]:
    sections = []
    had: list[str] = []
    for number, part in enumerate(bank, 1):
        if part.name in settings.parts:
            chosen = draw_questions(part, settings, had)
            had += [question.kind for question in chosen]
            sections.append(Section(number, part, tuple(generate(question, settings.seed) for question in chosen)))
    return tuple(sections)


def draw_questions(part: Part, settings: SheetSettings, had: Sequence[str] = ()) -> list[Question]:
    """As many different kinds as there can be, rather those that the sheet has not had; in the bank's order, an open
    question last. had: kinds on the sheet so far."""
    rng = random.Random(f"{settings.seed}/{part.name}")
    waiting = rng.sample(part.marked, len(part.marked))
    chosen: list[Question] = []
    while waiting and len(chosen) < settings.count:
        kinds = [question.kind for question in chosen]
        chosen.append(min(waiting, key=lambda one: (kinds.count(one.kind), had.count(one.kind))))
        waiting.remove(chosen[-1])
    chosen.sort(key=part.questions.index)
    if settings.open and part.open:
        chosen.append(rng.choice(part.open))
    return chosen


def totals(marks: Sequence[Mark], *, by_student: bool) -> tuple[float, int]:
    """Points and how many there could be, of what a program marks or of what the student does."""
    some = [mark for mark in marks if mark.by_student == by_student]
    return round(sum(mark.points for mark in some), 2), sum(mark.of for mark in some)
