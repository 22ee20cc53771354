"""The app in processes of its own: started for a measurement, their memory, their processor time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psutil

from minibert.folders import ROOT
from servers.room import free_ports


def pages(app: Path = ROOT) -> list[str]:
    """The address of every page of the course, Home's first. app: folder of the project."""
    names = {path.stem for path in (app / "pages").glob("*.py")}
    return ["", *sorted(names - {"home", "classroom"})]  # the latter is the teacher's alone


@contextmanager
def started(
    command: list[str], runs: Path, output: IO[bytes] | None = None, app: Path = ROOT
) -> Iterator[psutil.Process]:
    """A process that lasts as long as the block. output: where its output goes; None: errors alone, to this screen."""
    environment = os.environ | {"MINIBERT_RUNS": str(runs)}
    process = psutil.Popen(command, cwd=app, env=environment, stdout=output or subprocess.DEVNULL, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            process.kill()


@contextmanager
def server(
    runs: Path, script: str | Path = "app.py", output: IO[bytes] | None = None, app: Path = ROOT
) -> Iterator[tuple[str, psutil.Process]]:
    """`streamlit run` of the script: its address, which need not answer yet, and its process."""
    (port,) = free_ports(1)
    options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    with started(command, runs, output, app) as process:
        yield f"http://127.0.0.1:{port}", process


def until_up(address: str, process: psutil.Process) -> None:
    """Return as soon as the server answers. Raises RuntimeError if it has ended, or does not for five minutes."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        with suppress(OSError):
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).close()
            return
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


def family(process: psutil.Process) -> list[psutil.Process]:
    """A process and all its descendants."""
    with suppress(psutil.Error):
        return [process, *process.children(recursive=True)]
    return []


def memory(process: psutil.Process) -> int:
    """Bytes that a process and all its descendants use together; shared memory counts once."""
    total = 0
    for one in family(process):
        with suppress(psutil.Error):
            total += one.memory_full_info().pss
    return total


def processor_seconds(process: psutil.Process) -> float:
    """Seconds that a process and all its descendants have computed, those that have ended included."""
    total = 0.0
    for one in family(process):
        with suppress(psutil.Error, OSError):
            total += time.clock_gettime(~one.pid << 3 | 2)  # as clock_getcpuclockid(3); psutil counts in hundredths
            total += sum(one.cpu_times()[2:4])  # of its ended children
    return total
