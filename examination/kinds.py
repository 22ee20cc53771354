"""The kinds of questions by their name in the bank. Each module has `read`, `generate`, `mark`, `as_text`."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

from examination import choose, compute, count, input_rows, masks, mistake, open_question, order, predict
from examination.task import ExamQuestion, ExamTask, Mark
from examination.words import _

KINDS: dict[str, ModuleType] = {
    "compute": compute,
    "mask": masks,
    "order": order,
    "input": input_rows,
    "count": count,
    "choose": choose,
    "mistake": mistake,
    "predict": predict,
    "open": open_question,
}


def titles() -> dict[str, str]:
    """The title of each kind on screen."""
    return {
        "compute": _("Compute"),
        "mask": _("Draw the mask"),
        "order": _("Put in order"),
        "input": _("Build the input"),
        "count": _("Count parameters"),
        "choose": _("Choose"),
        "mistake": _("Find the mistake"),
        "predict": _("Predict and explain"),
        "open": _("Open question"),
    }


def generate(question: ExamQuestion, seed: int) -> ExamTask:
    """The question's task on the sheet `seed`: it does not depend on the other questions of the sheet."""
    rng = random.Random(f"{seed}/{question.id}")
    values = rng.choice(question.variants) if question.variants else {}
    return KINDS[question.kind].generate(question, rng, values)


def mark(task: ExamTask, answer: Any) -> Mark:
    return KINDS[task.question.kind].mark(task, answer)


def as_text(task: ExamTask, answer: Any) -> str:
    """The answer as plain text, for the score sheet; "" for none."""
    return KINDS[task.question.kind].as_text(task, answer)
