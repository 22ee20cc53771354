"""A table of a bank file, read field by field: errors name file and question, and say what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class BankError(ValueError):
    """A file of the bank is invalid; the message names the file and the question and says what to do."""


class Entry:
    """One table. Each field is read once, with its type; `close` raises BankError for fields that were not read."""

    def __init__(self, table: Any, where: str):
        self.where = where
        if not isinstance(table, dict):
            raise self.error("must be a table")
        self.table = table
        self.taken: set[str] = set()

    def error(self, message: str) -> BankError:
        return BankError(f"{self.where}: {message}")

    def has(self, name: str) -> bool:
        return name in self.table

    def _take(self, name: str) -> Any:
        self.taken.add(name)
        return self.table.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        value = self._take(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self.error(f'needs `{name} = "…"`, a text')
        return value.strip("\n")

    def one_of(self, name: str, options: Sequence[str], default: str | None = None) -> str:
        value = self.text(name, default)
        if value not in options:
            raise self.error(f"`{name}` is {value!r}; write one of {', '.join(options)}")
        return value

    def integer(self, name: str, default: int | None = None, low: int = 0, high: int = 10**9) -> int:
        value = self._take(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(f"needs `{name}`, a whole number from {low} to {high}")
        return value

    def flag(self, name: str) -> bool:
        value = self._take(name)
        if value not in (None, True, False):
            raise self.error(f"`{name}` must be true or false")
        return bool(value)

    def texts(self, name: str, least: int = 1, *, optional: bool = False) -> tuple[str, ...]:
        value = self._take(name)
        if value is None and optional:
            return ()
        good = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
        if not good or len(value) < least:
            raise self.error(f'needs `{name} = ["…", …]`, a list of {least} texts or more')
        if len(set(value)) != len(value):
            raise self.error(f"`{name}` says the same twice")
        return tuple(value)

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        value = self._take(name)
        good = isinstance(value, list) and value
        if not good or not all(
            isinstance(p, list) and len(p) == 2 and all(isinstance(t, str) and t.strip() for t in p) for p in value
        ):
            raise self.error(f'needs `{name} = [["…", "…"], …]`, a list of pairs of texts')
        return tuple((first, second) for first, second in value)

    def integers(self, name: str, low: int = 0, *, optional: bool = False) -> tuple[int, ...]:
        value = self._take(name)
        if value is None and optional:
            return ()
        good = isinstance(value, list) and value
        if not good or not all(isinstance(n, int) and not isinstance(n, bool) and n >= low for n in value):
            raise self.error(f"needs `{name} = [1, 2, …]`, a list of whole numbers of at least {low}")
        return tuple(value)

    def tables(self, name: str, least: int = 0) -> list[Entry]:
        value = self._take(name)
        value = [] if value is None else value
        if not isinstance(value, list) or len(value) < least:
            raise self.error(f"needs at least {least} [[question.{name}]]")
        return [Entry(one, f"{self.where}, {name} {number}") for number, one in enumerate(value, 1)]

    def table_of(self, name: str, *, optional: bool = False) -> Entry:
        value = self._take(name)
        if value is None and not optional:
            raise self.error(f"needs a table `{name}`")
        return Entry({} if value is None else value, f"{self.where}, {name}")

    def words(self) -> dict[str, str]:
        """The whole table as names and texts."""
        self.taken |= set(self.table)
        for name, value in self.table.items():
            if not isinstance(value, str):
                raise self.error(f'`{name}` must be a text in quotes, `{name} = "…"`')
        return dict(self.table)

    def close(self) -> None:
        if unknown := sorted(set(self.table) - self.taken):
            raise self.error(
                f"unknown entries {', '.join(unknown)}; known here: {', '.join(sorted(self.taken))}. "
                "See lessons/examination/README.md"
            )
