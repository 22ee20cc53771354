"""Visitors present on any of the app servers, and who may enter."""

import hmac
import secrets
import time
from dataclasses import dataclass

from ui.room.store import Store

SECONDS_HERE = 20  # a visitor counts as present for so long after their server last reported them
SECONDS_OF_A_CLASS = 12 * 3600  # visitors not present for longer are deleted
CODE_LETTERS, CODE_LENGTH = "23456789ABCDEFGHJKMNPQRSTUVWXYZ", 5  # without look-alikes such as 0 and O
TRIES_A_MINUTE = {"visitor": 5, "address": 60}  # a whole class may share one address
_CODE = "room code"


@dataclass(frozen=True)
class Visitor:
    """A visitor, present or past. owner: as in ui.visitor · first, last: times in seconds since the epoch."""

    owner: str
    address: str
    page: str
    first: float
    last: float

    @property
    def name(self) -> str:
        """Short label to tell visitors apart on screen."""
        return self.owner[:4]


class Visitors:
    """The visitors in the room's store."""

    def __init__(self, store: Store):
        self.store = store

    def seen(self, present: list[tuple[str, str, str]]) -> None:
        """Record visitors who are present now. present: (owner, address, page) of each."""
        now = time.time()
        with self.store.changing() as connection:
            connection.executemany(
                "INSERT INTO visitors (owner, address, page, first, last) VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner) "
                "DO UPDATE SET address = excluded.address, page = excluded.page, last = excluded.last",
                [(owner, address, page, now, now) for owner, address, page in present],
            )

    def forget_old(self) -> None:
        """Delete visitors, tries, questions and votes older than SECONDS_OF_A_CLASS."""
        before = time.time() - SECONDS_OF_A_CLASS
        with self.store.changing() as connection:
            connection.execute("DELETE FROM visitors WHERE last < ?", (before,))
            connection.execute("DELETE FROM tries WHERE time < ?", (before,))
            old = "(SELECT question FROM questions WHERE touched < ?)"
            for table in ("votes", "wordings"):
                connection.execute(f"DELETE FROM {table} WHERE question IN {old}", (before,))
            connection.execute("DELETE FROM questions WHERE touched < ?", (before,))

    def here(self) -> list[Visitor]:
        """Visitors present now, earliest arrival first."""
        rows = self.store.ask(
            "SELECT owner, address, page, first, last FROM visitors WHERE last > ? ORDER BY first, owner",
            time.time() - SECONDS_HERE,
        )
        return [Visitor(*row) for row in rows]

    # The door

    @property
    def code(self) -> str | None:
        """The room code newcomers must enter; None while the door is open."""
        return self.store.setting(_CODE)

    def close_door(self) -> str:
        """Require a new code, which is returned, from newcomers; visitors present now stay admitted."""
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        inside = [visitor.owner for visitor in self.here()]
        with self.store.changing() as connection:
            connection.executemany("UPDATE visitors SET admitted = 1 WHERE owner = ?", [(one,) for one in inside])
        self.store.set(_CODE, code)
        return code

    def open_door(self) -> None:
        self.store.set(_CODE, None)

    def may_enter(self, owner: str) -> bool:
        return self.code is None or bool(
            self.store.ask("SELECT 1 FROM visitors WHERE owner = ? AND (admitted OR key IS NOT NULL)", owner)
        )

    def enter(self, owner: str, address: str, typed: str) -> bool:
        """Admit the visitor if `typed` is the code → whether it is. Raises TooManyTries."""
        self.try_once(_CODE, owner, address)
        code = self.code or ""
        right = hmac.compare_digest(typed.strip().upper().encode()[:64], code.encode())
        if right:
            self._note(owner, address, "admitted", 1)
        return right

    def shut_out(self, owner: str) -> None:
        """Revoke the visitor's admission: they need the code again."""
        with self.store.changing() as connection:
            connection.execute("UPDATE visitors SET admitted = 0 WHERE owner = ?", (owner,))

    # The teacher

    def is_teacher(self, owner: str, key_digest: str) -> bool:
        """Whether the visitor has entered the current teacher's key."""
        found = self.store.ask("SELECT key FROM visitors WHERE owner = ?", owner)
        return bool(found) and hmac.compare_digest((found[0][0] or "").encode(), key_digest.encode())

    def make_teacher(self, owner: str, address: str, key_digest: str | None) -> None:
        """Record the key digest the visitor has entered; None makes them an ordinary visitor again."""
        self._note(owner, address, "key", key_digest)

    def _note(self, owner: str, address: str, column: str, value) -> None:
        self.seen([(owner, address, "")])
        with self.store.changing() as connection:
            connection.execute(f"UPDATE visitors SET {column} = ? WHERE owner = ?", (value, owner))

    def try_once(self, what: str, owner: str, address: str) -> None:
        """Count an attempt to enter a code or key. Raises TooManyTries after too many within a minute by this visitor,
        or from this address: somebody without cookies counts as a new visitor each time."""
        now = time.time()
        with self.store.changing() as connection:
            connection.execute("DELETE FROM tries WHERE time < ?", (now - 60,))
            for kind, who in (("visitor", owner), ("address", address)):
                name = f"{kind} {who}"
                count = "SELECT COUNT(*) FROM tries WHERE what = ? AND who = ?"
                if connection.execute(count, (what, name)).fetchone()[0] >= TRIES_A_MINUTE[kind]:
                    raise TooManyTries
                connection.execute("INSERT INTO tries VALUES (?, ?, ?)", (what, name, now))


class TooManyTries(Exception):
    """Too many attempts to enter a code or key within a minute."""
