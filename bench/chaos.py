"""A class while processes are killed: is anything that was acknowledged lost?

    python -m bench.classroom --chaos [--sessions N] [--servers 2] [--seconds S] [--record]

While the crowd of bench.classroom works, and trainings follow each other, kill −9 hits a training's worker, an app
server, the proxy and the job server, one after the other. If a small disk can be mounted (a tmpfs, which needs root),
the runs are stored on it, and a large file fills it for a quarter of the time.

A run is acknowledged when it was accepted and a page showed its id. Each such run must be found afterwards, with every
event that was reported to anyone, and in a true state: finished with its model, or ended with a sentence that says why.
Also counted: connections broken off, time until each came back, exceptions shown.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from bench.classroom import Measurements, Student, keep_training, room, table
from bench.machine import record, recorded
from bench.served import family, memory
from jobs.remote import RemoteManager

SMALL_DISK = 400  # MB
FILLED = 0.25  # fraction of the class's time that the disk is full


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Make the folder a disk of its own; yields whether this user may mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}m", "tmpfs", str(folder)]
    mounted = os.name == "posix" and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def called(process: psutil.Process, *words: str) -> list[psutil.Process]:
    """The processes of a room whose command contains these words."""
    found = []
    for one in family(process):
        with suppress(psutil.Error):
            line = " ".join([one.name(), *one.cmdline()])
            if all(word in line for word in words):
                found.append(one)
    return found


def training_worker(process: psutil.Process) -> psutil.Process | None:
    """The worker that trains: the busiest process forked by the job server's cluster."""
    forked = called(process, "forkserver")
    before = {one.pid: sum(one.cpu_times()[:2]) for one in forked}
    time.sleep(2)
    with suppress(psutil.Error):
        busiest = max(forked, key=lambda one: sum(one.cpu_times()[:2]) - before[one.pid], default=None)
        return busiest
    return None


def kill(one: psutil.Process | None) -> str:
    if one is None:
        return "nobody there"
    with suppress(psutil.Error):
        one.kill()
        return f"killed {one.pid}"
    return "already gone"


async def deaths(process: psutil.Process, seconds: float, runs: Path, disk: bool, log_lines: list[str]) -> None:
    """Kill each process, and fill the disk, at fixed times of the class."""
    began = time.perf_counter()

    def say(what: str, how: str) -> None:
        log_lines.append(f"{time.perf_counter() - began:.0f} s: {what}: {how}")

    async def at(share: float) -> None:
        await asyncio.sleep(max(0.0, share * seconds - (time.perf_counter() - began)))

    await at(0.2)
    say("a training's worker", kill(await asyncio.to_thread(training_worker, process)))
    await at(0.35)
    say("an app server", kill(next(iter(called(process, "servers.app_server")), None)))
    await at(0.5)
    say("the proxy", kill(next(iter(called(process, "haproxy.cfg")), None)))
    await at(0.6)
    if disk:
        filler = runs / "filler"
        with suppress(OSError), open(filler, "wb") as file:
            while True:
                file.write(b"\0" * 2**20)
        say("the disk", "full")
        await at(0.6 + FILLED)
        filler.unlink()
        say("the disk", "free again")
    await at(0.9)
    say("the job server", kill(next(iter(called(process, "jobs.server")), None)))


async def watch_runs(manager: RemoteManager, known: dict[str, int], over: asyncio.Event) -> None:
    """Record the id of every run reported by the job server, and its number of events."""
    while not over.is_set():
        with suppress(Exception):
            for run in await asyncio.to_thread(manager.runs):
                known[run.id] = max(known.get(run.id, 0), len(await asyncio.to_thread(run.events)))
        await asyncio.sleep(1)


async def wait_for_runs(manager: RemoteManager, seconds: float) -> None:
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        with suppress(Exception):
            if all(run.over for run in await asyncio.to_thread(manager.runs)):
                return
        await asyncio.sleep(2)


def lost(manager: RemoteManager, known: dict[str, int]) -> dict:
    """Which acknowledged runs and events are missing."""
    missing, fewer, silent, states = [], [], [], Counter()
    for run_id, events in known.items():
        run = manager.get(run_id)
        if run is None:
            missing.append(run_id)
            continue
        states[run.state] += 1
        if len(run.events()) < events:
            fewer.append(f"{run_id}: {len(run.events())} of {events}")
        if (
            run.over
            and run.state != "cancelled"
            and not (run.error if run.state != "finished" else run.result.is_dir())
        ):
            silent.append(f"{run_id}: {run.state}")
    return {
        "runs taken": len(known),
        "runs missing": missing,
        "runs with fewer events than were told": fewer,
        "runs that ended without a model or a word": silent,
        "states": dict(states),
    }


async def class_with_deaths(address: str, process: psutil.Process, runs: Path, disk: bool, options) -> dict:
    measurements, log_lines, known, over = Measurements(), [], {}, asyncio.Event()
    until = time.perf_counter() + options.seconds
    jobs = next(one for one in called(process, "jobs.server")).cmdline()
    manager = RemoteManager(jobs[jobs.index("--listen") + 1], runs)
    sessions = options.sessions[-1]
    rngs = [random.Random(f"chaos {options.seed}/{number}") for number in range(sessions)]
    watching = asyncio.create_task(watch_runs(manager, known, over))
    await asyncio.gather(
        *(Student(address, measurements, rng).attend(until, rng.uniform(0, 2)) for rng in rngs),
        keep_training(address, measurements, until),
        deaths(process, options.seconds, runs, disk, log_lines),
    )
    held = memory(process)
    await wait_for_runs(manager, 120)
    over.set()
    await watching
    return {
        "sessions": sessions,
        "servers": options.servers,
        "seconds": options.seconds,
        "what happened": log_lines,
        "small disk": f"{SMALL_DISK} MB" if disk else "none could be mounted",
        "waits": table(measurements),
        "actions broken off": dict(Counter(words.split(":")[0].split()[0] for words in measurements.broken)),
        "exceptions shown": dict(Counter(measurements.exceptions)),
        "memory at the end, MB": round(held / 1e6),
        **lost(manager, known),
    }


def main(options) -> None:
    with tempfile.TemporaryDirectory(prefix="minibert-chaos-") as name:
        folder = Path(name)
        log = folder / "log.txt"
        with small_disk(folder / "disk") as disk:
            runs = folder / "disk" / "runs"
            with room(runs, options.servers, log, "--workers", str(options.workers or 1)) as (address, process):
                while not options.cold and "ready for a class" not in log.read_text(errors="replace"):
                    time.sleep(0.5)
                result = asyncio.run(class_with_deaths(address, process, runs, disk, options))
                everybody = family(process)
            _gone, left = psutil.wait_procs(everybody, timeout=20)
            result["processes left after the end"] = len(left)
        if options.verbose:
            print(log.read_text(errors="replace")[-6_000:])
    for name, value in result.items():
        print(f"{name}: {value}")
    record(options.record, recorded("classroom") | {"chaos": result})
