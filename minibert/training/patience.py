"""A disk that is full: what a run has learned waits for room instead of being dropped, where somebody can make some."""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from safetensors import SafetensorError

SECONDS = 5.0  # between two tries
FULL = (errno.ENOSPC, errno.EDQUOT)
_tell: ContextVar[Callable[[], None] | None] = ContextVar("told of a full disk", default=None)


def is_full(error: Exception) -> bool:
    """Whether there was no room on the disk. safetensors tells the number in words."""
    if isinstance(error, SafetensorError):
        number = re.search(r"os error (\d+)", str(error))
        return number is not None and int(number[1]) in FULL
    return isinstance(error, OSError) and error.errno in FULL


@contextmanager
def patient(tell: Callable[[], None]) -> Iterator[None]:
    """Within, `when_there_is_room` waits, and calls `tell` each time before it does. Elsewhere, as on a command line
    where nobody would see why nothing happens, a full disk is an error at once."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


def when_there_is_room(save: Callable[..., Any], *args, **kwargs) -> Any:
    """What `save` returns, which must write all or nothing."""
    while True:
        try:
            return save(*args, **kwargs)
        except (OSError, SafetensorError) as error:
            tell = _tell.get()
            if tell is None or not is_full(error):
                raise
        tell()
        time.sleep(SECONDS)
