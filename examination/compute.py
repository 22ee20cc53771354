"""`compute`: one or a few numbers, computed from small ones drawn by the seed; see `computations`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from examination.computations import COMPUTATIONS, Field, Given
from examination.entry import BankError, Entry
from examination.numbers import number_text, parse_number
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, mark_of, no_answer, texts
from examination.words import _, ngettext

TRIES = 200


@dataclass(frozen=True)
class ComputeSettings:
    what: str
    options: dict[str, tuple]


@dataclass(frozen=True)
class ComputeTask(ExamTask):
    given: tuple[Given, ...]
    fields: tuple[Field, ...]
    numbers_wrong: tuple[tuple[tuple[float, ...], str], ...]


def read(entry: Entry) -> ComputeSettings:
    what = entry.one_of("what", list(COMPUTATIONS))
    table = entry.table_of("options", optional=True)
    options = {}
    for name, (default, allowed) in COMPUTATIONS[what].options.items():
        values = table.table.get(name, list(default))
        table.taken.add(name)
        if not isinstance(values, list) or not values or any(value not in allowed for value in values):
            raise table.error(f"`{name}` must be a list of some of {', '.join(map(repr, allowed))}")
        options[name] = tuple(values)
    table.close()
    return ComputeSettings(what, options)


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> ComputeTask:
    """Redraw until every misunderstanding leads to a different answer."""
    settings: ComputeSettings = question.settings
    for _try in range(TRIES):
        chosen = {name: rng.choice(options) for name, options in settings.options.items()}
        drawn = COMPUTATIONS[settings.what].draw(rng, **chosen)
        if drawn is not None and all(_visible(drawn.fields, numbers) for numbers, _why in drawn.wrong):
            break
    else:
        raise BankError(f"{question.where}: no numbers found with these options; allow more of them")
    names = values | drawn.names
    return ComputeTask(
        question,
        *texts(question, names),
        tuple(number_text(field.value, field.decimals) for field in drawn.fields),
        tuple(
            Wrong(tuple(number_text(n, f.decimals) for n, f in zip(numbers, drawn.fields, strict=True)), why)
            for numbers, why in drawn.wrong
        ),
        drawn.given,
        drawn.fields,
        drawn.wrong,
    )


def _visible(fields: Sequence[Field], numbers: Sequence[float]) -> bool:
    """Whether these numbers, however rounded, differ from the right ones."""
    return any(abs(number - f.value) > 2.5 * f.tolerance + 1e-9 for number, f in zip(numbers, fields, strict=True))


def accepted(task: ComputeTask) -> str:
    """The precision that an answer needs, as a sentence."""
    decimals = max(field.decimals for field in task.fields)
    if not decimals:
        return _("Whole numbers.")
    tolerance = max(field.tolerance for field in task.fields)
    said = ngettext(
        "{n} decimal is enough; ±{by:g} is accepted.", "{n} decimals are enough; ±{by:g} is accepted.", decimals
    )
    return said.format(n=decimals, by=tolerance)


def mark(task: ComputeTask, answer: Sequence[str] | None) -> Mark:
    """All numbers have the same weight."""
    typed = [*(answer or ()), *[""] * len(task.fields)][: len(task.fields)]
    if not any(text.strip() for text in typed):
        return no_answer(task)
    numbers = [parse_number(text, whole=not f.decimals) for text, f in zip(typed, task.fields, strict=True)]
    missed = [i for i, (n, f) in enumerate(zip(numbers, task.fields, strict=True)) if n is None or not _right(n, f)]
    reasons: dict[str, list[str]] = {}
    for index in missed:
        reasons.setdefault(_reason(task, numbers, index, typed[index]), []).append(task.fields[index].label)
    comments = [
        why if len(task.fields) == 1 else f"{_(', ').join(labels)}{_(': ')}{why}" for why, labels in reasons.items()
    ]
    return mark_of(task, 1 - len(missed) / len(task.fields), *comments)


def _reason(task: ComputeTask, numbers: Sequence[float | None], index: int, typed: str) -> str:
    """Why this number is wrong: of the misunderstandings that give it, the one that most of the numbers fit."""
    number, field = numbers[index], task.fields[index]
    if number is None:
        return _("That is not a number that can be read.") if typed.strip() else _("No answer.")

    def fits(wrong: Sequence[float]) -> int:
        return sum(n is not None and _near(n, w, f) for n, w, f in zip(numbers, wrong, task.fields, strict=True))

    likely = [(wrong, why) for wrong, why in task.numbers_wrong if _near(number, wrong[index], field)]
    return max(likely, key=lambda one: fits(one[0]))[1] if likely else _("Not the number.")


def _near(number: float, other: float, field: Field) -> bool:
    return abs(number - other) <= field.tolerance + 1e-9


def _right(number: float, field: Field) -> bool:
    return _near(number, field.value, field)


def as_text(task: ComputeTask, answer: Sequence[str] | None) -> str:
    pairs = zip(answer or (), task.fields, strict=False)
    return "\n".join(f"{field.label}{_(': ')}{text}" for text, field in pairs if text.strip())
