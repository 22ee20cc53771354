"""The form of a file, from which its task is guessed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import islice

from minibert.tasks.data import TaskDataError
from minibert.tasks.json_lines import is_json_lines
from minibert.tasks.tables import header_of, names_its_columns, table

LOOKED_AT = 500  # lines


class Sureness(IntEnum):
    """How surely a file's form fits a task: not at all; like any table; by its number of columns; by names in its
    header; by a syntax of its own."""

    NO = 0
    ANY_TABLE = 1
    COLUMNS = 2
    HEADER = 3
    SYNTAX = 4


@dataclass(frozen=True)
class Form:
    """A file's text and name."""

    text: str
    name: str

    @cached_property
    def header(self) -> list[str]:
        """The cells of the first line, in lower case; [] where the text is no table."""
        try:
            return header_of(next(table(self.text, self.name))[1])
        except TaskDataError:
            return []

    @cached_property
    def names_its_columns(self) -> bool:
        """Whether it is a table whose first line seems to be a header with names that no task knows."""
        try:
            return names_its_columns([cells for _line, cells in islice(table(self.text, self.name), LOOKED_AT)])
        except TaskDataError:
            return False

    @property
    def is_json(self) -> bool:
        """Whether it is one JSON value, not a table of JSON lines."""
        return self.text.lstrip().startswith("{") and not is_json_lines(self.text)
