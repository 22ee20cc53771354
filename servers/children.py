"""Child processes: start, restart, end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

SHORT = 5.0  # seconds: a process that ends sooner counts as a failed start
MOST = 5  # failed starts in a row before giving up
PAUSE = 0.5  # seconds before a restart; doubled after each failed start


class NotStarted(RuntimeError):
    """A process that ends every time right after its start."""


class Child:
    """A process of the room, restarted when it ends. It ends with this process: its standard input closes then; if the
    program ignores that (`deaf`), Linux sends it SIGTERM. heard: show its output.

    Start it from the main thread only: Linux sends that signal when the starting thread ends.
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
            )  # own process group: Ctrl-C reaches only the parent, which ends children in order
        finally:
            if before:
                os.sched_setaffinity(0, before)
        self.since, self.again_at = time.monotonic(), 0.0
        self._started()

    def look(self) -> str | None:
        """Restart the process if it has ended; then return a message. Raises NotStarted."""
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
        if self.process:
            self.process.kill()

    def ask_to_end(self) -> None:
        if self.process and self.process.stdin and self.process.poll() is None:
            self.process.stdin.close()
            self.process.send_signal(signal.SIGTERM)

    def end(self, deadline: float) -> None:
        """Wait for its end until `deadline`, then kill its process group."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
