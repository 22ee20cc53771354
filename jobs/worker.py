"""How a worker executes a run: call the generator, send its events to the app, return the files it made."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import shutil
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Generator
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
from distributed import get_worker

from jobs.files import EVENTS, RECORD, RESULT, RESUME, SAVED_EVENT, Upload, pack
from minibert.training.disk_retry import retrying_saves

SECONDS_BETWEEN_MESSAGES = 0.1
SECONDS_TO_ARRIVE = 2.0  # seconds to wait for an event to be in the run's file; without it a save is not copied
WAITING = "waiting"  # kind of the event that reports: the disk is full, the run cannot save
NICE = 10  # pages first; on Linux this affects the training thread only, the worker reacts to a cancel as before


class Inbox:
    """Messages from the app for a run in this worker."""

    def __init__(self) -> None:
        self.messages: deque = deque()
        self.cancelled = False

    def take(self) -> list:
        """The messages since the last call: the `mailbox` of the generator."""
        return [self.messages.popleft() for _ in range(len(self.messages))]


inboxes: dict[str, Inbox] = {}


def deliver(run_id: str, messages: list, cancelled: bool) -> None:
    """Called by the app in the worker's event loop, while the run itself has a thread of the worker's pool."""
    if inbox := inboxes.get(run_id):
        inbox.messages.extend(messages)
        inbox.cancelled |= cancelled


def kill(dask_worker) -> None:
    """Called by the app in a nanny: end its worker process, whatever that is busy with. The nanny starts a new one."""
    psutil.Process(dask_worker.pid).kill()


class Outbox:
    """Sends events to the app in order, fast ones in one message. The worker's event loop does the waiting."""

    def __init__(self, worker, topic: str, run_id: str):
        self.worker, self.topic, self.run_id = worker, topic, run_id
        self.lines: deque[str] = deque()
        self.count = 0
        self.armed = False
        self.sent = 0.0

    def send(self, event: dict) -> str:
        """Queue the event; return its line as it will be in the run's file."""
        line = json.dumps({"number": self.count, "time": time.time(), **event})
        self.lines.append(line)
        self.count += 1
        if not self.armed:
            self.armed = True
            self.worker.loop.add_callback(self._arm)
        return line

    def _arm(self) -> None:
        self.worker.loop.call_later(max(0.0, self.sent + SECONDS_BETWEEN_MESSAGES - time.monotonic()), self.flush)

    def flush(self) -> None:
        # Reset `armed` before taking lines: an event in between is sent now or arms again, but is never left behind.
        self.armed, self.sent = False, time.monotonic()
        if lines := [self.lines.popleft() for _ in range(len(self.lines))]:
            self.post(lines=lines)

    def post(self, **message) -> None:
        self.worker.log_event(self.topic, {"run": self.run_id, **message})


def run_job(run_id: str, topic: str, target: str, arguments: bytes, home: str) -> dict:
    """Run `target` ("package.module:function") to its end, and report how it ended.

    home: the run's folder at the app. If it is reachable from here, every save of the run is copied there at once, so
    that it survives if this worker is killed.

    Returns state, error, traceback, the number of events, and files: name → bytes of the last path an event named, or
    else of the folder passed as `out`. Exceptions are returned as text: their class may not exist in the app.
    """
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    worker = get_worker()
    outbox = Outbox(worker, topic, run_id)
    inbox = inboxes[run_id] = Inbox()
    outbox.post(started=worker.address)

    def report_full_disk() -> None:
        outbox.send({"event": WAITING})

    end: dict[str, Any] = {"state": "finished", "error": None, "traceback": None, "files": {}}
    with tempfile.TemporaryDirectory(prefix="run-", dir=worker.local_directory) as folder:
        result = Path(folder, "out")
        try:
            events = start_generator(target, arguments, Path(folder), inbox, Path(home))
            with retrying_saves(report_full_disk), closing(events):
                for event in events:
                    event = event.as_dict()
                    line = outbox.send(event)
                    result = Path(event.get("path") or result)
                    if event.get("event") == "saved" and is_written(line, Path(home)):
                        copy_result(result, Path(home), line)
                    if inbox.cancelled:
                        end["state"] = "cancelled"
                        break
        except BaseException as error:  # SystemExit too: it must end the run, not the worker
            sentence = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            end |= {"state": "failed", "error": sentence, "traceback": traceback.format_exc()}
        if result.exists():
            end["files"] = pack(result)
    del inboxes[run_id]
    worker.loop.add_callback(outbox.flush)  # before Dask's own message that the task is done, on the same stream
    return {**end, "events": outbox.count}


def is_written(line: str, home: Path) -> bool:
    """Whether the event is in the run's file: a state must not be copied before the events that led to it."""
    if not (home / RECORD).is_file():
        return False  # the app is on another machine, without a shared folder
    expected, until = line.encode() + b"\n", time.monotonic() + SECONDS_TO_ARRIVE
    while time.monotonic() < until:
        with suppress(OSError), open(home / EVENTS, "rb") as file:
            file.seek(-min(len(expected), file.seek(0, os.SEEK_END)), os.SEEK_END)
            if file.read() == expected:
                return True
        time.sleep(0.02)
    return False


def copy_result(result: Path, home: Path, line: str) -> None:
    """Copy what a run has saved so far, and the event that reported it, to the run's folder. If that fails, the files
    come with the end of the run."""
    new, old = home / ".result-new", home / ".result-old"
    with suppress(OSError):
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        shutil.copytree(result, new)
        if (new / RESUME).is_dir():
            (new / RESUME / SAVED_EVENT).write_text(line, encoding="utf-8")
        if (home / RESULT).exists():
            os.rename(home / RESULT, old)
        os.rename(new, home / RESULT)
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)


def start_generator(target: str, arguments: bytes, folder: Path, inbox: Inbox, home: Path) -> Generator:
    """Create the generator: call `target` with its arguments, plus `out` and `mailbox` if it has them, plus
    `resume_from` if a killed worker has left a state to resume from in `home`."""
    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    if not inspect.isgeneratorfunction(function):
        raise TypeError(f"{target} is not a generator function")
    args, kwargs = pickle.loads(arguments)
    uploads = folder / "in"
    args = [unpacked(a, uploads / str(i)) for i, a in enumerate(args)]
    kwargs = {k: unpacked(a, uploads / k) for k, a in kwargs.items()}
    offered = {"out": folder / "out", "mailbox": inbox.take}
    taken = {name: offered[name] for name in offered if name in inspect.signature(function).parameters}
    if "resume_from" in inspect.signature(function).parameters and (home / RESULT / RESUME).is_dir():
        kwargs["resume_from"] = home / RESULT
    return function(*args, **{**taken, **kwargs})


def unpacked(argument: Any, folder: Path) -> Any:
    """The argument with each `Upload` (alone or in a list) replaced by the path of its copy."""
    if isinstance(argument, list):
        return [unpacked(one, folder / str(i)) for i, one in enumerate(argument)]
    return argument.unpack(folder) if isinstance(argument, Upload) else argument
