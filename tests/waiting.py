"""Waiting for a state, never for a time; and for what is asynchronous."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor


def until(condition, seconds: float = 300) -> None:
    """Return once `condition()` holds; `seconds` are only where waiting becomes an error."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.02)


def finished(coroutine):
    """What the coroutine returns, run in a thread of its own: a browser of other tests leaves a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
