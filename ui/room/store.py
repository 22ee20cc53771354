"""State shared by all app servers of a class: an SQLite database in their common folder of runs."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from minibert.folders import runs_folder

FILE = "room.sqlite"
SECONDS_LOCKED = 5  # to wait for another server's lock
_TABLES = """
CREATE TABLE IF NOT EXISTS visitors (
    owner TEXT PRIMARY KEY, address TEXT, page TEXT, first REAL, last REAL, admitted INTEGER DEFAULT 0, key TEXT);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS tries (what TEXT, who TEXT, time REAL);
CREATE TABLE IF NOT EXISTS questions (question TEXT PRIMARY KEY, touched REAL, held_until REAL DEFAULT 0);
CREATE TABLE IF NOT EXISTS votes (question TEXT, voter TEXT, guess TEXT, PRIMARY KEY (question, voter));
CREATE TABLE IF NOT EXISTS wordings (question TEXT PRIMARY KEY, words TEXT);
CREATE TABLE IF NOT EXISTS kept (owner TEXT, name TEXT, value TEXT, time REAL, PRIMARY KEY (owner, name));
CREATE TABLE IF NOT EXISTS sheets (
    owner TEXT, sheet TEXT, name TEXT, time REAL, times INTEGER, marks TEXT, page TEXT, PRIMARY KEY (owner, sheet));
"""


class Store:
    """The database. Safe to use from several threads and processes."""

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=SECONDS_LOCKED, check_same_thread=False, isolation_level=None)
        # These data are not worth waiting for the disk. No WAL journal either: it does not work on network folders.
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_TABLES)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed at the end, rolled back on any exception."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have rolled it back already
                    self._connection.execute("ROLLBACK")
                raise

    def ask(self, question: str, *values) -> list[tuple]:
        with self._lock:
            return self._connection.execute(question, values).fetchall()

    def setting(self, name: str) -> str | None:
        found = self.ask("SELECT value FROM settings WHERE name = ?", name)
        return found[0][0] if found else None

    def set(self, name: str, value: str | None) -> None:
        with self.changing() as connection:
            connection.execute("DELETE FROM settings WHERE name = ?", (name,))
            if value is not None:
                connection.execute("INSERT INTO settings VALUES (?, ?)", (name, value))


def room() -> Store:
    """The store in the folder of runs."""
    return _store(runs_folder() / FILE)


@lru_cache(maxsize=4)
def _store(path: Path) -> Store:
    return Store(path)
