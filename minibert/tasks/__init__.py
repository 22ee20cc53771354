"""The tasks by name. Every file of this folder that defines a `Task` with a name adds one; nothing else has to list it.
The tasks in `BY_PATTERN` need a pattern from the user, so no file can be recognised as theirs; `TASKS` is the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from minibert.tasks.base import Task
from minibert.tasks.classification import Example
from minibert.tasks.data import Imbalance, Problem, TaskData, TaskDataError, label_order
from minibert.tasks.features import Features
from minibert.tasks.guess import Form
from minibert.tasks.options import Options
from minibert.tasks.sampling import even_sample
from minibert.tasks.tables import decoded, table

MOST_PROBLEMS = 1_000  # of a sample

__all__ = [
    "BY_PATTERN",
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
    "read_sample",
    "task_named",
    "task_of_head",
]


def discovered() -> dict[str, Task]:
    """Name → task, of every file in this folder, in their `order`."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    kinds = [kind for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    tasks = [kind() for kind in dict.fromkeys(kinds) if issubclass(kind, Task) and "name" in vars(kind)]
    return {task.name: task for task in sorted(tasks, key=lambda task: task.order)}


EVERY = discovered()
TASKS: dict[str, Task] = {name: task for name, task in EVERY.items() if not task.by_pattern}
BY_PATTERN: dict[str, Task] = {name: task for name, task in EVERY.items() if task.by_pattern}


def task_named(name: str) -> Task:
    """The task of this name; if there is none, ValueError lists the names."""
    if name not in EVERY:
        raise ValueError(f"no task {name!r}; there are {', '.join(EVERY)}")
    return EVERY[name]


def task_of_head(architecture: str, problem: str = "") -> Task | None:
    """The first task with this head, for checkpoints fine-tuned elsewhere, whose config.json names none of our tasks.
    architecture: class name in heads.py · problem: transformers' problem_type."""
    fitting = (task for task in TASKS.values() if (task.architecture, task.problem) == (architecture, problem))
    return next(fitting, None)


def guess_task(content: bytes, name: str) -> str:
    """The task that a file's form suggests; the user may correct it. TaskDataError if the file is not text."""
    form = Form(decoded(content, name), name)
    sure = {task.name: task.recognises(form) for task in TASKS.values()}
    best = max(reversed(sure), key=sure.__getitem__)  # ties: the later task is the more specific one
    if not sure[best]:
        next(table(form.text, name))  # raises if it is not even a table
    return best


def guess_format(content: bytes, name: str, task: str) -> str | None:
    """The format of this task that the file seems to have; None if it is none of them."""
    try:
        return task_named(task).guess_format(decoded(content, Path(name).name), name)
    except TaskDataError:
        return None


def read_sample(
    path: Path,
    name: str,
    task: str,
    format: str,
    *,
    most: int,
    columns: Mapping[str, str | int] | None = None,
    beside: Mapping[str, bytes] | None = None,
) -> tuple[TaskData, int]:
    """An even sample of the file's examples, with at most MOST_PROBLEMS problems, and the number of all examples.
    Raises like `Task.parse` and `Task.check`."""
    data = task_named(task).parse(Path(path).read_bytes(), name, format=format, beside=beside, columns=columns)
    task_named(task).check(data)
    sample = data.take(even_sample(data, range(len(data.examples)), most))
    if (more := len(data.problems) - MOST_PROBLEMS) > 0:
        others = Problem(None, None, f"{more:,} more places are not as they should be")
        sample = replace(sample, problems=[*data.problems[:MOST_PROBLEMS], others])
    return sample, len(data.examples)
