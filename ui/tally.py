"""Anonymous counts of the class's guesses, shared by all app servers with the same store. Beyond MOST_QUESTIONS the
oldest questions are deleted.

While the disk is full, guesses are not counted; if reading fails, it is as if nobody had guessed and nothing were held;
`hold` and `release` raise sqlite3.Error.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from minibert.text.json_values import json_value
from ui.room.store import Store

MOST_QUESTIONS, MOST_VOTERS = 1_000, 2_000
LONGEST_HOLD = 600.0  # seconds, in case the teacher leaves without releasing the answer
_ALL = "every answer is held until"


@dataclass(frozen=True)
class Wording:
    """A question as it was shown. text: Markdown · options: plain text · right: index of the correct one."""

    text: str
    options: Sequence[str]
    right: int


class GuessTally:
    """Guesses by question. voter: an opaque id; only the last guess of each voter counts."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def vote(self, question: str, voter: str, guess: str, wording: Wording | None = None) -> None:
        with suppress(sqlite3.Error), self.store.changing() as connection:
            self._touch(connection, question)
            if wording:
                words = json.dumps([wording.text, list(wording.options), wording.right])
                connection.execute("INSERT OR REPLACE INTO wordings VALUES (?, ?)", (question, words))
            others = connection.execute(
                "SELECT COUNT(*) FROM votes WHERE question = ? AND voter != ?", (question, voter)
            ).fetchone()[0]
            if others < MOST_VOTERS:
                connection.execute("INSERT OR REPLACE INTO votes VALUES (?, ?, ?)", (question, voter, guess))

    def counts(self, question: str) -> Counter[str]:
        """Guess → number of voters."""
        return Counter(
            dict(self._rows("SELECT guess, COUNT(*) FROM votes WHERE question = ? GROUP BY guess", question))
        )

    def guesses_of(self, voter: str, key: str) -> dict[str, str]:
        """The voter's guesses at the questions of `key`: what each is about → guess."""
        rows = self._rows(  # all that begin with the key's line, by the index
            "SELECT question, guess FROM votes WHERE voter = ? AND question >= ? AND question < ?",
            *(voter, f"{key}\n", f"{key}\v"),
        )
        return {question.partition("\n")[2]: guess for question, guess in rows}

    def wording(self, question: str) -> Wording | None:
        """The question as it was last shown to somebody who guessed."""
        found = self._rows("SELECT words FROM wordings WHERE question = ?", question)
        return Wording(*json_value(found[0][0])) if found else None

    def hold(self, question: str) -> None:
        """Hide the correct answer, also after guessing, until `release` or for LONGEST_HOLD seconds."""
        self._hold_until(question, time.time() + LONGEST_HOLD)

    def release(self, question: str) -> None:
        self._hold_until(question, 0.0)

    def held(self, question: str) -> bool:
        if self.all_held():
            return True
        found = self._rows("SELECT held_until FROM questions WHERE question = ?", question)
        return bool(found) and time.time() < found[0][0]

    def hold_all(self) -> None:
        """`hold` for all questions, including those not opened yet."""
        self.store.set(_ALL, str(time.time() + LONGEST_HOLD))

    def release_all(self) -> None:
        """`release` for all questions, including those held individually."""
        self.store.set(_ALL, None)
        with self.store.changing() as connection:
            connection.execute("UPDATE questions SET held_until = 0")

    def all_held(self) -> bool:
        with suppress(sqlite3.Error):
            return time.time() < float(self.store.setting(_ALL) or 0.0)
        return False

    def latest(self, most: int) -> list[str]:
        """The last `most` questions guessed, held or released, newest first."""
        rows = self._rows("SELECT question FROM questions ORDER BY touched DESC LIMIT ?", most)
        return [question for (question,) in rows]

    def _rows(self, question: str, *values) -> list[tuple]:
        with suppress(sqlite3.Error):
            return self.store.ask(question, *values)
        return []

    def _hold_until(self, question: str, when: float) -> None:
        with self.store.changing() as connection:
            self._touch(connection, question)
            connection.execute("UPDATE questions SET held_until = ? WHERE question = ?", (when, question))

    def _touch(self, connection, question: str) -> None:
        connection.execute(
            "INSERT INTO questions (question, touched) VALUES (?, ?) "
            "ON CONFLICT (question) DO UPDATE SET touched = excluded.touched",
            (question, time.time()),
        )
        oldest = ("SELECT question FROM questions ORDER BY touched DESC LIMIT -1 OFFSET ?", (MOST_QUESTIONS,))
        for (old,) in connection.execute(*oldest).fetchall():
            for table in ("votes", "wordings", "questions"):
                connection.execute(f"DELETE FROM {table} WHERE question = ?", (old,))
