"""Processes that are started, kept going, and ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

SHORT = 5.0  # seconds: who lives no longer has not started
MOST = 5  # starts in a row that come to nothing, before all is given up
PAUSE = 0.5  # seconds before it is started again; twice as many each time it comes to nothing


class NotStarted(RuntimeError):
    """A process that ends each time as soon as it has begun."""


class Child:
    """A process of the room, started again when it ends. It lives no longer than this process: its standard input ends
    with it, and where a program does not look at that (`deaf`), Linux ends it. heard: what it prints is shown.

    Started by the main thread only: what Linux watches is the thread.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: dict[str, str],
        *,
        cores: set[int] | None = None,
        deaf: bool = False,
        heard: bool = False,
        started: Callable[[], None] = lambda: None,
    ):
        setpriv = shutil.which("setpriv") if deaf else None
        self.name, self.environment, self.cores, self._started = name, environment, cores, started
        self.output = None if heard else subprocess.DEVNULL
        self.command = [*([setpriv, "--pdeathsig", "TERM"] if setpriv else []), *command]
        self.process: subprocess.Popen | None = None
        self.since = self.again_at = 0.0
        self.failed = 0

    def start(self) -> None:
        before = os.sched_getaffinity(0) if self.cores else None
        if self.cores:
            os.sched_setaffinity(0, self.cores)  # of this thread: the new process inherits it
        try:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdin=subprocess.PIPE, stdout=self.output, process_group=0
            )  # a process group of its own: Ctrl-C is for who started it, who then ends it in order
        finally:
            if before:
                os.sched_setaffinity(0, before)
        self.since, self.again_at = time.monotonic(), 0.0
        self._started()

    def look(self) -> str | None:
        """Start it again if it has ended; says so then. Raises NotStarted."""
        if self.process is None or self.process.poll() is None:
            return None
        now = time.monotonic()
        if not self.again_at:
            self.failed = self.failed + 1 if now - self.since < SHORT else 0
            if self.failed >= MOST:
                raise NotStarted(f"{self.name} ends as soon as it has started ({' '.join(self.command)})")
            self.again_at = now + PAUSE * 2**self.failed
            return f"{self.name} has ended ({self.process.returncode}) and is started again"
        if now >= self.again_at:
            self.start()
        return None

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()

    def ask_to_end(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.stdin.close()
            self.process.send_signal(signal.SIGTERM)

    def end(self, deadline: float) -> None:
        """Wait for its end until `deadline`, and no longer; with all that it has started in its group."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
