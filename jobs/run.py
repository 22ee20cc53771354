"""One run as the app sees it, in memory and as a folder: run.json, events.jsonl, result/."""

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
from contextlib import contextmanager
from pathlib import Path

import psutil

from jobs.files import pack, unpack

ENDED = ("finished", "failed", "cancelled", "lost")
STATES = ("queued", "starting", "running", *ENDED)
ID = re.compile(r"[0-9a-f]{32}")  # 128 random bits: nobody finds another's run by guessing
STOPPED = "The server was stopped before this run had ended. What it had reported is kept."
STORED = ("id", "owner", "title", "kind", "target", "state", "error", "traceback", "created", "started", "ended")


class Run:
    """A run of a training generator. Its attributes are for reading; times are seconds since 1970.

    state: queued (waiting for its turn), starting (waiting for a worker), running, and then one of finished, failed
    (`error` is a sentence, `traceback` the text for an engineer), cancelled, lost (worker, cluster or server died).
    """

    def __init__(self, manager, directory: Path, owner: str, title: str, kind: str, target: str):
        self.id = secrets.token_hex(16)
        self.owner, self.title, self.kind, self.target = owner, title, kind, target
        self.state = "queued"
        self.error: str | None = None
        self.traceback: str | None = None
        self.created = time.time()
        self.started: float | None = None
        self.ended: float | None = None
        self.directory = directory / self.id
        self.cancelling = False
        self.turn = 0  # in the queue
        self.worker: str | None = None  # its address, once the run has started there
        self.future = None  # Dask's
        self.outgoing: list = []  # messages that have not left yet
        self.delivering = asyncio.Lock()
        self._manager = manager
        self._events: list[dict] | None = []
        self._latest: dict[str, dict] = {}
        self._over = threading.Event()

    # What a page asks

    def events(self, since: int = 0) -> list[dict]:
        """The events from number `since` on, oldest first: each has number, time, event (its kind) and its fields."""
        self._restore_events()
        return self._events[since:]

    def latest(self, kind: str) -> dict | None:
        """The last event of a kind (step, eval, sample, saved, done), or None."""
        self._restore_events()
        return self._latest.get(kind)

    @property
    def progress(self) -> float:
        """The share that is done, 0 to 1, as the target told it."""
        if self.state == "finished":
            return 1.0
        self._restore_events()
        return max((event.get("progress", 0.0) for event in list(self._latest.values())), default=0.0)

    @property
    def position(self) -> int | None:
        """Place in the queue, 1 is next; None when it does not wait."""
        return self._manager.position(self)

    @property
    def over(self) -> bool:
        return self.state in ENDED

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; False when it has not come within `timeout` seconds. For scripts and tests."""
        return self._over.wait(timeout)

    def cancel(self) -> None:
        """End it, at the next event and in a second at most; what it had reported and saved stays."""
        self._manager.cancel(self)

    def send(self, message) -> None:
        """Hand `message` to the target's `mailbox`; before it has started it waits, after the end it is dropped."""
        self._manager.send(self, message)

    @property
    def result(self) -> Path:
        """The folder of the files the run has made, e.g. a checkpoint, if any (paths in events are a worker's)."""
        return self.directory / "result"

    @property
    def files(self) -> dict[str, bytes]:
        """Name → content of the files the run has made."""
        return pack(self.result) if self.result.is_dir() else {}

    def save_to(self, directory: str | Path) -> Path:
        """Keep the files as a new folder, whole or not at all. Raises FileNotFoundError, FileExistsError, OSError."""
        if not self.result.is_dir():
            raise FileNotFoundError(f"“{self.title}” has made no files")
        return unpack(self.files, directory)

    # What the manager does with it

    def add(self, lines: list[str]) -> None:
        """Take in events, each a line of JSON, and append them to the file."""
        for event in map(json.loads, lines):
            self._events.append(event)
            self._latest[event.get("event")] = event
        with self._on_disk(), open(self.directory / "events.jsonl", "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)

    def change(self, state: str, error: str | None = None, traceback: str | None = None) -> None:
        self.state, self.error, self.traceback = state, error or self.error, traceback
        if state == "running":
            self.started = time.time()
        if self.over:
            self.ended = time.time()
        with self._on_disk():
            self.store()
        if self.over:
            self._over.set()

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """A full disk must not end a run: it goes on in memory, and says so."""
        try:
            yield
        except OSError as error:
            self.error = self.error or f"The run cannot be kept in {self.directory}: {error.strerror}"

    def store(self) -> None:
        """Write run.json, whole or not at all."""
        self.directory.mkdir(parents=True, exist_ok=True)
        temporary = self.directory / ".run.json"
        values = {name: getattr(self, name) for name in STORED} | {"server": this_process()}
        temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
        os.replace(temporary, self.directory / "run.json")

    def store_files(self, files: dict[str, bytes]) -> None:
        shutil.rmtree(self.result, ignore_errors=True)
        unpack(files, self.result)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.directory.rglob("*") if file.is_file())

    def _restore_events(self) -> None:
        """Read what a server before this one has stored, when it is first asked for."""
        if self._events is not None:
            return
        events = []
        file = self.directory / "events.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
            try:
                events.append(json.loads(line))
            except ValueError:
                break  # the server died while it wrote this line
        self._latest = {event.get("event"): event for event in events}
        self._events = events


def restore(manager, directory: Path) -> Run | None:
    """The run stored in `directory`; None where there is none to show: unreadable, or a live server's of its own."""
    try:
        values = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        run = Run(manager, directory.parent, *(values[name] for name in ("owner", "title", "kind", "target")))
        run.__dict__.update({name: values[name] for name in STORED})
        server = values["server"]
    except (OSError, ValueError, KeyError):
        return None
    if run.id != directory.name or run.state not in STATES:
        return None
    run.directory, run._events = directory, None
    if not run.over:
        if server != this_process() and is_alive(*server):
            return None
        run.change("lost", STOPPED)
    run._over.set()
    return run


def this_process() -> list:
    return [os.getpid(), psutil.Process().create_time()]


def is_alive(pid: int, created: float) -> bool:
    try:
        return psutil.Process(pid).create_time() == created
    except psutil.Error:
        return False
