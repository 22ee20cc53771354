"""Retry saving while the disk is full, so that a trained model is not lost, where a user can free some space."""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from safetensors import SafetensorError

SECONDS = 5.0  # seconds between two tries
FULL = (errno.ENOSPC, errno.EDQUOT)
_on_full_disk: ContextVar[Callable[[], None] | None] = ContextVar("on_full_disk", default=None)


def is_full(error: Exception) -> bool:
    """Whether the error means that the disk is full. safetensors gives the error number only in its text."""
    if isinstance(error, SafetensorError):
        number = re.search(r"os error (\d+)", str(error))
        return number is not None and int(number[1]) in FULL
    return isinstance(error, OSError) and error.errno in FULL


@contextmanager
def retrying_saves(on_wait: Callable[[], None]) -> Iterator[None]:
    """Within this context, `save_with_retry` waits while the disk is full, and calls `on_wait` before each wait.
    Elsewhere, as on a command line, where nobody would see why it hangs, a full disk raises at once."""
    token = _on_full_disk.set(on_wait)
    try:
        yield
    finally:
        _on_full_disk.reset(token)


def save_with_retry(save: Callable[..., Any], *args, **kwargs) -> Any:
    """Call `save`, again while the disk is full (see `retrying_saves`); it must write all or nothing."""
    while True:
        try:
            return save(*args, **kwargs)
        except (OSError, SafetensorError) as error:
            on_wait = _on_full_disk.get()
            if on_wait is None or not is_full(error):
                raise
        on_wait()
        time.sleep(SECONDS)
