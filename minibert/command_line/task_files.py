"""Files of a task: the options for reading them, and how they are read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from minibert.command_line.printing import complain
from minibert.tasks import Task
from minibert.tasks.data import TaskData


def file_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--format", help="of the files; guessed without it")
    sub.add_argument(
        "--columns",
        nargs="+",
        type=field_column,
        metavar="FIELD=COLUMN",
        help="of a table: text=Review label=Stars, by names in its header; by numbers from 1 where it has none",
    )
    sub.add_argument("--strict", action="store_true", help="stop at the first bad line instead of naming it")


def field_column(text: str) -> tuple[str, str | int]:
    """text=Review → ("text", "Review"), first-text=3 → ("first text", 3)."""
    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise argparse.ArgumentTypeError(f"must be like text=Review or label=3, not {text}")
    return name.replace("-", " "), int(column) if column.isdecimal() else column


def read_task_data(
    options: argparse.Namespace, task: Task, path: Path, labels: Sequence[str] | None = None
) -> TaskData:
    """The examples of a file; its problems are printed on stderr."""
    data = task.read(path, options.format, options.strict, labels, dict(options.columns or ()))
    for problem in data.problems:
        complain(f"{path}, {problem}")
    return data
