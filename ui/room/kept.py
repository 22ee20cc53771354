"""What is kept for a visitor from one visit to the next: pages opened, quiz answers, answers of the examination.

While the disk is full nothing is kept; if reading fails, it is as if nothing were.
"""

import json
import sqlite3
import time
from contextlib import suppress
from typing import Any

from minibert.text.json_values import json_value
from ui.room.store import Store

SECONDS_OF_A_COURSE = 200 * 24 * 3600  # what has not changed for longer is deleted
MOST, LONGEST = 3_000, 40_000  # values of a visitor, beyond which the oldest are deleted; characters of one


class Kept:
    """Values by owner and name. A value is what JSON can say."""

    def __init__(self, store: Store):
        self.store = store

    def keep(self, owner: str, name: str, value: Any) -> None:
        """Store a value; None removes it."""
        text = json.dumps(value)
        with suppress(sqlite3.Error), self.store.changing() as connection:
            if value is None or len(text) > LONGEST:
                connection.execute("DELETE FROM kept WHERE owner = ? AND name = ?", (owner, name))
                return
            connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (owner, name, text, time.time()))
            too_many = "(SELECT name FROM kept WHERE owner = ? ORDER BY time DESC LIMIT -1 OFFSET ?)"
            if connection.execute("SELECT COUNT(*) FROM kept WHERE owner = ?", (owner,)).fetchone()[0] > MOST:
                connection.execute(f"DELETE FROM kept WHERE owner = ? AND name IN {too_many}", (owner, owner, MOST))

    def of(self, owner: str, prefix: str) -> dict[str, Any]:
        """Name, without the prefix → value, for all names of the owner that begin with it."""
        with suppress(sqlite3.Error):
            rows = self.store.ask(
                "SELECT name, value FROM kept WHERE owner = ? AND name >= ? AND name < ?",
                *(owner, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
            )
            return {name.removeprefix(prefix): json_value(value) for name, value in rows}
        return {}

    def of_class(self, prefix: str) -> list[tuple[str, str, Any]]:
        """(owner, name without the prefix, value) of all who were here in this class (`Visitors`), but the teacher."""
        with suppress(sqlite3.Error):
            rows = self.store.ask(
                "SELECT owner, name, value FROM kept JOIN visitors USING (owner) "
                "WHERE key IS NULL AND name >= ? AND name < ?",
                *(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
            )
            return [(owner, name.removeprefix(prefix), json_value(value)) for owner, name, value in rows]
        return []

    def forget_old(self) -> None:
        before = time.time() - SECONDS_OF_A_COURSE
        with self.store.changing() as connection:
            connection.execute("DELETE FROM kept WHERE time < ?", (before,))
