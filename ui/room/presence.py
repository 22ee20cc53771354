"""Which sessions of this server are there: kept here, and told to the room's store every few seconds."""

import threading

from ui.room.store import Store
from ui.room.visitors import Visitors

SECONDS = 5

_lock = threading.Lock()
_sessions: dict[str, tuple[str, str, str]] = {}  # session → (owner, address, page)


def note(session: str, owner: str, address: str, page: str) -> None:
    """A page ran in this session. Costs nothing: who is there is written for all together."""
    with _lock:
        _sessions[session] = (owner, address, page)


def forget(session: str) -> None:
    """It stands outside the door now."""
    with _lock:
        _sessions.pop(session, None)


def tell(store: Store, connected) -> None:
    """Write down who is still there. connected(session): whether it is."""
    with _lock:
        for session in [session for session in _sessions if not connected(session)]:
            del _sessions[session]
        here = list(_sessions.values())
    Visitors(store).seen(here)
