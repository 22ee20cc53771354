"""The manager for one of several app servers: forwards every call to the job server (`jobs.server`)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

from jobs.manager import ClusterError, JobError
from jobs.run import Run
from jobs.wire import address_of, key_of, packed, unpacked

MAX_CACHED_RUNS = 400  # runs cached here with their events, the most recently used
PATIENCE = 10.0  # seconds to retry: a job server that died is being restarted
SECONDS_CACHED = 0.1  # seconds that a list of runs is cached: one script run of a page reads it ten times
CONNECTIONS = 8  # kept open while idle
GONE = "The server of the training runs does not answer: try again in a moment."
OTHER_KEY = "The server of the training runs has another key: {directory} is not the folder that it keeps them in."
READ_ONLY = {"runs", "get", "events", "wait", "removed", "limits", "warm_up"}  # calls that change no list of runs
NO_RETRY = {"submit"}  # calls never retried: the job server may have executed them before the connection was lost


class RemoteRun(Run):
    """A run as last reported by the job server; its events are fetched on demand, its files are in the shared
    folder."""

    def __init__(self, manager: RemoteManager, run_id: str):
        self.id, self._manager = run_id, manager
        self._fetched: list[dict] = []
        self._latest, self._complete = {}, False
        self._position: int | None = None
        self._fetching = threading.Lock()

    @property
    def position(self) -> int | None:
        return self._position

    def wait(self, timeout: float | None = None) -> bool:
        return self.over or self._manager.ask(self, "wait", timeout) is not False

    def _loaded_events(self) -> list[dict]:
        with self._fetching:
            over = self.over and self.future is None  # as last reported: then all events were there
            if self._complete and over:
                return self._fetched
            known = self._fetched[-1:]
            new = self._manager.ask(self, "events", len(self._fetched) - len(known)) or []
            if new[:1] != known:  # the run was restarted
                self._fetched, self._latest, known = [], {}, []
                new = self._manager.ask(self, "events", 0) or []
            for event in new[len(known) :]:
                self._fetched.append(event)
                self._latest[event.get("event")] = event
            self._complete = over
            return self._fetched


class RemoteManager:
    """A `jobs.manager.Manager` at an address. directory: of the runs, shared with the job server."""

    def __init__(self, address: str, directory: str | Path):
        self.directory = Path(directory).resolve()
        self._address = address_of(address)
        self._free: list[Connection] = []
        self._runs: OrderedDict[str, RemoteRun] = OrderedDict()
        self._lists: dict[str | None, tuple[float, list[RemoteRun]]] = {}
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Any method of a manager, executed by the job server."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.ask(None, name, *args, **kwargs)

    def runs(self, owner: str | None = None) -> list[Run]:
        until, runs = self._lists.get(owner, (0.0, []))
        if time.monotonic() > until:
            runs = self.ask(None, "runs", owner)
            now = time.monotonic()
            self._lists = {key: kept for key, kept in self._lists.items() if kept[0] > now}
            self._lists[owner] = (now + SECONDS_CACHED, runs)
        return list(runs)

    def submit(self, target, *args, **options) -> Run:
        if callable(target):
            target = f"{target.__module__}:{target.__qualname__}"
        return self.ask(None, "submit", target, *args, **options)

    def close(self) -> None:
        with self._lock:
            while self._free:
                self._free.pop().close()

    def ask(self, run: Run | None, name: str, *args, **kwargs) -> Any:
        """An attribute or a method's result, of a run or (run None) of the manager, from the job server. Raises what
        that raises, and ClusterError if the job server does not answer."""
        try:
            data = packed((run, name, args, kwargs), lambda run: run.id)
        except Exception as error:
            raise JobError(f"What “{name}” was given cannot be sent: {error}") from error
        deadline = time.monotonic() + PATIENCE
        while True:
            sent = False
            try:
                connection = self._connection(new=name in NO_RETRY)
                connection.send_bytes(data)
                sent = True
                answer = connection.recv_bytes()
                break
            except AuthenticationError as error:
                raise ClusterError(OTHER_KEY.format(directory=self.directory)) from error
            except (OSError, EOFError) as error:  # the job server is restarting, or has restarted since the last call
                if (sent and name in NO_RETRY) or time.monotonic() > deadline:
                    raise ClusterError(GONE) from error
                time.sleep(0.1)
        if name not in READ_ONLY:
            self._lists = {}  # this server sees its own changes at once
        with self._lock:
            if len(self._free) < CONNECTIONS:
                self._free.append(connection)
            else:
                connection.close()
        done, value = unpacked(answer, self._resolve)
        if done:
            return value
        raise value

    def _connection(self, new: bool) -> Connection:
        with self._lock:
            if self._free and not new:
                return self._free.pop()
        return Client(self._address, authkey=key_of(self.directory))

    def _resolve(self, values: dict) -> RemoteRun:
        """The run described by the job server's `values`: one object per id, updated in place."""
        with self._lock:
            run = self._runs.get(values["id"])
            if run is None:
                run = self._runs[values["id"]] = RemoteRun(self, values["id"])
            self._runs.move_to_end(run.id)
            while len(self._runs) > MAX_CACHED_RUNS:
                self._runs.popitem(last=False)
        run.__dict__.update(values)
        run.directory = self.directory / run.id  # the shared folder may have another name there
        return run
