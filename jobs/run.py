"""One run as the app sees it, in memory and as a folder: run.json, events.jsonl, result/, and arguments.pickle as long
as it may have to restart."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from jobs.files import ARGUMENTS, EVENTS, RECORD, RESULT, RESUME, SAVED_EVENT, pack, unpack

ENDED = ("finished", "failed", "cancelled", "lost")
STATES = ("queued", "starting", "running", "storing", *ENDED)
ID = re.compile(r"[0-9a-f]{32}")  # 128 random bits: ids cannot be guessed
STOPPED = "The server was stopped before this run had ended. What it had reported is kept."
NOT_BEGUN = "The server was stopped before this run had begun. It is kept."
MOST_TRIES = 2  # a run whose worker died twice is not tried again
ARGS = ("owner", "title", "kind", "target", "address")
STORED = ("id", *ARGS, "state", "error", "traceback", "created", "started", "ended", "tries")
LATER_DEFAULTS = {"address": "", "tries": 0}  # defaults for records of older versions


class Run:
    """A run of a training generator. Its attributes are for reading; times are seconds since 1970.

    state: queued (waiting for its turn), starting (waiting for a worker), running, storing (done, but the disk is
    full), and then one of finished, failed (`error` is a sentence, `traceback` the text for an engineer), cancelled,
    lost (worker, cluster or server died) · tries: retries after such a death so far · address: its owner's IP network.
    """

    def __init__(self, manager, directory: Path, owner: str, title: str, kind: str, target: str, address: str = ""):
        self.id = secrets.token_hex(16)
        self.owner, self.title, self.kind, self.target, self.address = owner, title, kind, target, address
        self.tries = 0
        self.state = "queued"
        self.error: str | None = None
        self.traceback: str | None = None
        self.created = time.time()
        self.started: float | None = None
        self.ended: float | None = None
        self.directory = directory / self.id
        self.cancelling = False
        self.turn = 0  # its turn in the queue (`Manager._next_turn`)
        self.worker: str | None = None  # its address, once the run has started there
        self.future: Any = None  # Dask's
        self.outgoing: list = []  # messages that have not left yet
        self.delivering = asyncio.Lock()
        self._manager = manager
        self._events: list[dict] | None = []
        self.first_event = 0  # index of the first event counted by the current worker
        self._unwritten: list[str] = []  # event lines not yet written: the disk was full
        self._latest: dict[str | None, dict] = {}  # by the kind of event
        self._over = threading.Event()

    # For pages

    def events(self, since: int = 0) -> list[dict]:
        """The events from number `since` on, oldest first: each has number, time, event (its kind) and its fields."""
        return self._loaded_events()[since:]

    def latest(self, kind: str) -> dict | None:
        """The last event of a kind (step, eval, sample, saved, done), or None."""
        self._loaded_events()
        return self._latest.get(kind)

    @property
    def progress(self) -> float:
        """The fraction done, 0 to 1, as the target reports it."""
        if self.state == "finished":
            return 1.0
        self._loaded_events()
        return max((event.get("progress", 0.0) for event in list(self._latest.values())), default=0.0)

    @property
    def position(self) -> int | None:
        """Place in the queue, from 1 (next); None if it is not queued."""
        return self._manager.position(self)

    @property
    def over(self) -> bool:
        return self.state in ENDED

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; False if it does not come within `timeout` seconds. For scripts and tests."""
        return self._over.wait(timeout)

    def cancel(self) -> None:
        """End the run, at its next event and after a second at most; what it has reported and saved stays."""
        self._manager.cancel(self)

    @property
    def can_retry(self) -> bool:
        """Whether to restart it automatically after its worker was killed."""
        return self.tries + 1 < MOST_TRIES and (self.directory / ARGUMENTS).is_file()

    @property
    def can_restart(self) -> bool:
        """Whether a user can restart it: it was interrupted, and its arguments are still stored."""
        return self.over and self.future is None and (self.directory / ARGUMENTS).is_file()

    def restart(self) -> None:
        """Restart the run under its id. Raises JobError where that is refused."""
        self._manager.restart(self)

    def send(self, message) -> None:
        """Pass `message` to the target's `mailbox`; kept until the run starts, dropped after its end."""
        self._manager.send(self, message)

    @property
    def result(self) -> Path:
        """The folder of the files the run has made, e.g. a checkpoint (paths in events are the worker's)."""
        return self.directory / RESULT

    @property
    def files(self) -> dict[str, bytes]:
        """Name → content of the files the run has made."""
        return pack(self.result) if self.result.is_dir() else {}

    # For the manager

    def add(self, lines: list[str]) -> None:
        """Record events, each a line of JSON, and append them to the file."""
        events = self._loaded_events()
        for event in map(json.loads, lines):
            events.append(event)
            self._latest[event.get("event")] = event
        self._unwritten += lines
        with self._on_disk():
            self._write_events()

    def _write_events(self) -> None:
        """Append all pending event lines, each exactly once."""
        path = self.directory / EVENTS
        before = path.stat().st_size if path.exists() else 0
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in self._unwritten)
        except OSError:
            with suppress(OSError):
                os.truncate(path, before)  # undo a partial write
            raise
        self._unwritten = []

    def change(self, state: str, error: str | None = None, traceback: str | None = None) -> None:
        self.state, self.error, self.traceback = state, error or self.error, traceback
        if state == "running":
            self.started = time.time()
        if self.over:
            self.ended = time.time()
        with self._on_disk():
            self.store()
            if self._unwritten:
                self._write_events()
        if self.over:
            self._over.set()

    def reset_to_queue(self) -> None:
        """Put the run back into the queue. If it has saved a state to resume from, it will continue there (see
        jobs/worker.py), and later events are dropped; else it starts from the beginning."""
        events = self.events() if (self.result / RESUME).is_dir() else []
        saved = max((i for i, event in enumerate(events) if event.get("event") == "saved"), default=-1)
        with suppress(OSError, ValueError):  # saved by an older version, without SAVED_EVENT
            saved = events.index(json.loads((self.result / RESUME / SAVED_EVENT).read_text(encoding="utf-8")))
        self._events = events[: saved + 1]
        self._latest = {event.get("event"): event for event in self._events}
        self._unwritten, self.first_event = [json.dumps(event) for event in self._events], len(self._events)
        self.error = self.traceback = self.started = self.ended = self.worker = None
        self.cancelling, self.outgoing = False, []
        self._over.clear()
        with suppress(OSError):
            (self.directory / EVENTS).unlink(missing_ok=True)
        self.change("queued")

    def store_arguments(self, arguments: bytes) -> None:
        """Store the pickled arguments of `Manager.submit`. Only the server writes here, so unpickling them is safe."""
        self.directory.mkdir(parents=True, exist_ok=True)
        temporary = self.directory / f".{ARGUMENTS}"
        temporary.write_bytes(arguments)
        os.replace(temporary, self.directory / ARGUMENTS)

    def arguments(self) -> bytes:
        return (self.directory / ARGUMENTS).read_bytes()

    def drop_arguments(self) -> None:
        with suppress(OSError):
            (self.directory / ARGUMENTS).unlink(missing_ok=True)

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Keep the run going in memory while the disk is full, and report that in `error` until there is room."""
        prefix = f"The run cannot be kept in {self.directory}"
        try:
            yield
        except OSError as error:
            self.error = self.error or f"{prefix}: {error.strerror}"
        else:
            if self.error and self.error.startswith(prefix):
                self.error = None

    def store(self) -> None:
        """Write run.json atomically."""
        self.directory.mkdir(parents=True, exist_ok=True)
        temporary = self.directory / f".{RECORD}"
        values = {name: getattr(self, name) for name in STORED} | {"server": this_process()}
        temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
        os.replace(temporary, self.directory / RECORD)

    def store_files(self, files: dict[str, bytes]) -> None:
        shutil.rmtree(self.result, ignore_errors=True)
        unpack(files, self.result)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.directory.rglob("*") if file.is_file())

    def _loaded_events(self) -> list[dict]:
        """All events; those stored by a previous server are loaded at first use."""
        if self._events is None:
            events = []
            file = self.directory / EVENTS
            for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
                try:
                    events.append(json.loads(line))
                except ValueError:
                    break  # the server died while it wrote this line
            self._latest = {event.get("event"): event for event in events}
            self._events = events
        return self._events


def restore(manager, directory: Path) -> Run | None:
    """The run stored in `directory`; None if it is unreadable or belongs to a server that is alive.

    A run interrupted by its server's death becomes "queued" if it is to restart, else "lost".
    """
    try:
        values = LATER_DEFAULTS | json.loads((directory / RECORD).read_text(encoding="utf-8"))
        run = Run(manager, directory.parent, **{name: values[name] for name in ARGS})
        run.__dict__.update({name: values[name] for name in STORED})
        server = values["server"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if run.id != directory.name or run.state not in STATES:
        return None
    run.directory, run._events = directory, None
    if run.over:
        run._over.set()
        return run
    if server != this_process() and is_alive(*server):
        return None
    try:  # if several servers start together, one takes it
        os.rename(directory / RECORD, directory / f".{RECORD}-{os.getpid()}")
    except OSError:
        return None
    if run.can_retry:
        run.tries += run.state != "queued"
        run.change("queued")
    else:
        run.change("lost", STOPPED)
    (directory / f".{RECORD}-{os.getpid()}").unlink(missing_ok=True)
    return run


def this_process() -> list:
    return [os.getpid(), psutil.Process().create_time()]


def is_alive(pid: int, created: float) -> bool:
    try:
        return psutil.Process(pid).create_time() == created
    except psutil.Error:
        return False
