"""Who is there, on any of the app servers, and who may come in."""

import hmac
import secrets
import time
from dataclasses import dataclass

from ui.room.store import Store

SECONDS_HERE = 20  # since their server last told that they are
SECONDS_OF_A_CLASS = 12 * 3600  # after it nobody is remembered
CODE_LETTERS, CODE_LENGTH = "23456789ABCDEFGHJKMNPQRSTUVWXYZ", 5  # without those that look alike on a board
TRIES_A_MINUTE = {"visitor": 5, "address": 60}  # a class mistypes a room code at one address
_CODE = "room code"


@dataclass(frozen=True)
class Visitor:
    """Somebody who is, or was, there. owner: as in ui.visitor."""

    owner: str
    address: str
    page: str
    first: float
    last: float

    @property
    def name(self) -> str:
        """What tells one from another on a screen, and nothing else."""
        return self.owner[:4]


class Visitors:
    """The room's."""

    def __init__(self, store: Store):
        self.store = store

    def seen(self, those: list[tuple[str, str, str]]) -> None:
        """(owner, address, page) of people who are there now."""
        now = time.time()
        with self.store.changing() as connection:
            connection.executemany(
                "INSERT INTO visitors (owner, address, page, first, last) VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner) "
                "DO UPDATE SET address = excluded.address, page = excluded.page, last = excluded.last",
                [(owner, address, page, now, now) for owner, address, page in those],
            )

    def forget_old(self) -> None:
        """Those of another day, with what they guessed."""
        before = time.time() - SECONDS_OF_A_CLASS
        with self.store.changing() as connection:
            connection.execute("DELETE FROM visitors WHERE last < ?", (before,))
            connection.execute("DELETE FROM tries WHERE time < ?", (before,))
            old = "(SELECT question FROM questions WHERE touched < ?)"
            connection.execute(f"DELETE FROM votes WHERE question IN {old}", (before,))
            connection.execute("DELETE FROM questions WHERE touched < ?", (before,))

    def here(self) -> list[Visitor]:
        """Those who are there now, who came first first."""
        rows = self.store.ask(
            "SELECT owner, address, page, first, last FROM visitors WHERE last > ? ORDER BY first, owner",
            time.time() - SECONDS_HERE,
        )
        return [Visitor(*row) for row in rows]

    # The door

    @property
    def code(self) -> str | None:
        """What newcomers are asked for; None while the door is open."""
        return self.store.setting(_CODE)

    def close_door(self) -> str:
        """Newcomers need the code from now on, which is returned; whoever is there stays."""
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

    def enter(self, owner: str, address: str, given: str) -> bool:
        """Whether `given` is the code: then they may enter from now on. Raises TooManyTries."""
        self.try_once(_CODE, owner, address)
        code = self.code or ""
        right = hmac.compare_digest(given.strip().upper().encode()[:64], code.encode())
        if right:
            self._note(owner, address, "admitted", 1)
        return right

    def shut_out(self, owner: str) -> None:
        """They need the code, as newcomers do."""
        with self.store.changing() as connection:
            connection.execute("UPDATE visitors SET admitted = 0 WHERE owner = ?", (owner,))

    # The teacher

    def is_teacher(self, owner: str, key_digest: str) -> bool:
        """Whether they have given the key that is the key now."""
        found = self.store.ask("SELECT key FROM visitors WHERE owner = ?", owner)
        return bool(found) and hmac.compare_digest((found[0][0] or "").encode(), key_digest.encode())

    def make_teacher(self, owner: str, address: str, key_digest: str | None) -> None:
        """None: they are no teacher any more."""
        self._note(owner, address, "key", key_digest)

    def _note(self, owner: str, address: str, column: str, value) -> None:
        self.seen([(owner, address, "")])
        with self.store.changing() as connection:
            connection.execute(f"UPDATE visitors SET {column} = ? WHERE owner = ?", (value, owner))

    def try_once(self, what: str, owner: str, address: str) -> None:
        """Count a try of a code or key. Raises TooManyTries where there were too many in the last minute: of this
        visitor, or at this address, as a visitor is somebody else without cookies."""
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
    """Of a code or a key, within a minute."""
