"""The tasks of the paper, by name: readers for the field's file formats, input, head, answers, metrics."""

from __future__ import annotations

import re
from pathlib import Path

from minibert.tasks.base import Features, Task
from minibert.tasks.choices import Choices
from minibert.tasks.classification import TEXT_COLUMNS, Classification, Example
from minibert.tasks.data import Imbalance, Problem, TaskData, TaskDataError, label_order
from minibert.tasks.intents import SECTION, Intents
from minibert.tasks.labels import NUMBERS, Multilabel
from minibert.tasks.options import Options
from minibert.tasks.pairs import PAIR_COLUMNS, Pairs
from minibert.tasks.similarity import Similarity
from minibert.tasks.spans import Spans, SpansOrNone
from minibert.tasks.tables import LABEL_COLUMNS, column, decoded, header_of, table
from minibert.tasks.tagging import Tagging

__all__ = [
    "TASKS",
    "Example",
    "Features",
    "Imbalance",
    "Options",
    "Problem",
    "Task",
    "TaskData",
    "TaskDataError",
    "guess_format",
    "guess_task",
    "label_order",
    "task_named",
]

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Classification(),
        Pairs(),
        Similarity(),
        Multilabel(),
        Tagging(),
        Spans(),
        SpansOrNone(),
        Choices(),
        Intents(),
    )
}


def task_named(name: str) -> Task:
    """The task, or ValueError saying which there are."""
    if name not in TASKS:
        raise ValueError(f"no task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]


def guess_task(content: bytes, name: str) -> str:
    """The task that a file's form suggests; the user may know better. TaskDataError for what is no text."""
    text = decoded(content, name)
    if text.lstrip().startswith("{"):
        return "span-or-none" if re.search(r'"is_impossible"\s*:\s*true', text) else "span"
    if any(SECTION.fullmatch(line.strip()) for line in text.split("\n", 200)[:200]):
        return "intent"
    if TASKS["tagging"].guess_format(text, name):
        return "tagging"
    _, first = next(table(text, name))
    header = header_of(first)
    mctest = len(header) >= 8 and (len(header) - 3) % 5 == 0 and column(header, LABEL_COLUMNS) is None
    if "ending0" in header or "warrant0" in header or mctest:
        return "choice"
    if any(name in header for names in PAIR_COLUMNS.values() for name in names[:2] + names[3:5]):
        return "similarity" if "score" in header else "pair"
    if {"labels", "emotions"} & set(header):
        return "multilabel"
    if len(header) in (7, 9) and re.fullmatch(r"\d(\.\d+)?", header[4]):
        return "similarity"
    named = column(header, TEXT_COLUMNS) is not None and column(header, LABEL_COLUMNS) is not None
    if len(header) == 3 and not named and "label" not in header:
        return "multilabel" if NUMBERS.fullmatch(header[1]) else "pair"
    return "classification"


def guess_format(content: bytes, name: str, task: str) -> str | None:
    """The format of the task that the file seems to be in; None where it is none of them."""
    try:
        return task_named(task).guess_format(decoded(content, Path(name).name), name)
    except TaskDataError:
        return None
