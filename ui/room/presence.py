"""Active sessions of this server: held in memory and written to the room's store every few seconds."""

import threading

from ui.room.store import Store
from ui.room.visitors import Visitors

SECONDS = 5

_lock = threading.Lock()
_sessions: dict[str, tuple[str, str, str]] = {}  # session → (owner, address, page)


def record(session: str, owner: str, address: str, page: str) -> None:
    """Record that a page ran in this session. Cheap: `report` writes all sessions to the database at once."""
    with _lock:
        _sessions[session] = (owner, address, page)


def forget(session: str) -> None:
    """Drop the session: its visitor may not enter."""
    with _lock:
        _sessions.pop(session, None)


def report(store: Store, connected) -> None:
    """Write the sessions still connected to the store. connected(session): whether it is."""
    with _lock:
        for session in [session for session in _sessions if not connected(session)]:
            del _sessions[session]
        here = list(_sessions.values())
    Visitors(store).seen(here)
