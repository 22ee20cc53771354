"""The job server: one manager, one queue and one store of runs for several app servers (python -m jobs.server).

App servers forward everything about runs to it (`jobs.remote`), so the queue, the progress and the results are the same
on each of them, and a run outlives the app server it was started from.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from jobs.manager import Manager
from jobs.run import Run
from jobs.wire import UnknownRun, address_of, key_of, packed, unpacked

PLAIN = (str, int, float, bool, type(None), Path)


def snapshot(run: Run) -> dict:
    """The plain attributes of a run; the rest (events, say) is fetched when needed."""
    values = {name: value for name, value in vars(run).items() if isinstance(value, PLAIN) and not name.startswith("_")}
    return values | {"_position": run.position, "future": None if run.future is None else "underway"}


class JobServer:
    """Answers the requests of app servers, each connection in a thread of its own."""

    def __init__(self, manager: Manager, address: tuple[str, int]):
        self.manager = manager
        self.listener = Listener(address, backlog=64, authkey=key_of(manager.directory))

    def serve(self) -> None:
        while True:
            try:
                connection = self.listener.accept()
            except Exception:  # a client without the key, or one that disconnected at once
                continue
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with suppress(EOFError, OSError), connection:
            while True:
                data = connection.recv_bytes()
                try:
                    answer = (True, self._perform(*unpacked(data, self._resolve)))
                except UnknownRun:
                    answer = (True, None)  # the run is gone, there is nothing to do
                except Exception as error:
                    answer = (False, error)
                try:
                    data = packed(answer, snapshot)
                except Exception as error:  # unpicklable answers are reported as text
                    data = packed((False, RuntimeError(f"{answer[1]!r} cannot be sent: {error}")), snapshot)
                connection.send_bytes(data)

    def _resolve(self, run_id: str) -> Run:
        if run := self.manager.get(run_id):
            return run
        raise UnknownRun(run_id)

    def _perform(self, run: Run | None, name: str, args: tuple, kwargs: dict) -> Any:
        """An attribute or a method's result, of a run or (run None) of the manager."""
        value = getattr(self.manager if run is None else run, name)
        return value(*args, **kwargs) if callable(value) else value


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m jobs.server", description=__doc__.split("\n")[0])
    parser.add_argument("--listen", type=address_of, required=True, metavar="HOST:PORT")
    parser.add_argument("--runs", type=Path, required=True, help="the folder that all app servers share")
    parser.add_argument("--workers", type=int, help="trainings at a time")
    parser.add_argument("--scheduler", help="tcp://… of a Dask cluster; without it workers are started here")
    options = parser.parse_args()
    manager = Manager(options.runs, scheduler=options.scheduler, max_running=options.workers)
    server = JobServer(manager, options.listen)
    threading.Thread(target=server.serve, daemon=True).start()
    manager.warm_up()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())

    def stop_with_starter() -> None:
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=stop_with_starter, daemon=True).start()
    stopped.wait()
    manager.close()
    os._exit(0)  # do not wait for threads blocked on an app server's next request


if __name__ == "__main__":
    main()
