"""Examination sheets handed in, for the teacher to collect: in the room's store, so that every server has all of them.

They stay until the teacher clears them. `hand_in` raises sqlite3.Error if the disk is full.
"""

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass

from minibert.text.json_values import json_value
from ui.room.store import Store

MOST, LONGEST = 2_000, 2_000_000  # sheets in all, beyond which the oldest are deleted; characters of a page


@dataclass(frozen=True)
class HandedSheet:
    """A student's sheet as it is now. sheet: its number and settings · times: how often it was handed in; after the
    first time the right answers were seen · marks: (points, of) by the program, then by the student · page: HTML."""

    owner: str
    sheet: str
    name: str
    when: float
    times: int
    marks: tuple[float, int, float, int]
    page: str


class Sheets:
    """The sheets in the room's store."""

    def __init__(self, store: Store):
        self.store = store

    def hand_in(self, owner: str, sheet: str, *, name: str, when: float, marks: tuple, page: str) -> None:
        """when: the time of handing in; another one counts as handed in once more, the same one only changes it."""
        with self.store.changing() as connection:
            before = connection.execute(
                "SELECT time, times FROM sheets WHERE owner = ? AND sheet = ?", (owner, sheet)
            ).fetchone()
            times = 1 if before is None else before[1] + (before[0] != when)
            row = (owner, sheet, name, when, times, json.dumps(marks), page[:LONGEST])
            connection.execute("INSERT OR REPLACE INTO sheets VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            oldest = "SELECT rowid FROM sheets ORDER BY time DESC LIMIT -1 OFFSET ?"
            connection.execute(f"DELETE FROM sheets WHERE rowid IN ({oldest})", (MOST,))

    def all(self, *, pages: bool = True) -> list[HandedSheet]:
        """By name, then time. pages: with their HTML."""
        page = "page" if pages else "''"
        with suppress(sqlite3.Error):
            rows = self.store.ask(
                f"SELECT owner, sheet, name, time, times, marks, {page} FROM sheets ORDER BY name, time"
            )
            return [HandedSheet(*row[:5], tuple(json_value(row[5])), row[6]) for row in rows]
        return []

    def clear(self) -> None:
        with self.store.changing() as connection:
            connection.execute("DELETE FROM sheets")
