"""Waiting for a state, never for a time."""

import time


def until(condition, seconds: float = 300) -> None:
    """Return once `condition()` holds; `seconds` are only where waiting becomes an error."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.02)
