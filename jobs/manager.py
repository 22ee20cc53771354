"""Training runs: submitted by pages, executed by Dask workers, looked up by id or owner.

Everything happens in one asyncio loop in a thread of its own. Pages, which run in one thread per session, pass it
coroutines and read the results from `Run` objects.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import math
import os
import pickle
import shutil
import tempfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.cluster import Cluster
from jobs.run import ID, NOT_BEGUN, STOPPED, Run, restore
from minibert.folders import PACKAGE, ROOT
from minibert.training.disk_retry import is_full

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SECONDS_TO_CONNECT = 5
SECONDS_TO_CANCEL = 0.15
SECONDS_TO_KILL = 10
SECONDS_TO_SAVE = 60  # used instead once a run has trained: it notices the cancel only after its next steps
SECONDS_FOR_ROOM = 5  # between two checks whether a full disk has room again
DIED = "The worker that did this run died: it was killed, or ran out of memory. What it had reported is kept."
GONE = "The connection to the Dask scheduler was lost during this run. What it had reported is kept."


class JobError(RuntimeError):
    """A run cannot be accepted; the message says why and what to do."""


class QueueFull(JobError):
    """Too many runs are waiting."""


class ClusterError(JobError):
    """There is no cluster to run on."""


@dataclass(frozen=True)
class JobLimits:
    """queued: runs that may wait, in total and per owner; the fuller the queue, the fewer per owner. An owner with no
    run waiting or running is always accepted, up to `first_per_address` owners per address · kept: ended runs (and
    bytes) on disk; beyond them the oldest are removed, for the total first from the owner with most bytes."""

    queued: int = 60
    queued_per_owner: int = 12
    first_per_address: int = 200  # a whole year of students behind one router
    kept_per_owner: int = 20
    bytes_per_owner: int = 2_000_000_000  # twenty models of 23 million parameters
    bytes: int = 10_000_000_000


class Manager:
    """directory: where runs are kept · scheduler: address of a Dask scheduler, None for an embedded cluster ·
    max_running: concurrent runs, default one per core and at most 4 · preload: modules a worker imports before its
    first run · code: packages sent to an external scheduler and its workers, which need not have them installed.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        scheduler: str | None = None,
        max_running: int | None = None,
        limits: JobLimits | None = None,
        # The metrics come from scikit-learn, and every optimizer of torch imports torch._dynamo.
        preload: tuple[str, ...] = ("minibert.finetune.run", "sklearn.metrics", "torch._dynamo"),
        code: tuple[Path, ...] = (PACKAGE, ROOT / "jobs"),
    ):
        self.directory, self.scheduler = Path(directory).resolve(), scheduler
        self.max_running = max_running or min(CORES, 4)
        self._removed: Counter[str] = Counter()
        self.limits, self.preload, self.code = limits or JobLimits(), preload, code
        self._runs: dict[str, Run] = {}
        self._queue: list[Run] = []  # in serving order; replaced, never changed in place, so that pages may read it
        self._turn = 0  # the turn being served (see `_next_turn`)
        self._active: list[Run] = []  # holding one of the `max_running` places
        self._tasks: set[asyncio.Task] = set()
        self._cluster: Cluster | None = None
        self._client: Any = None  # Dask's
        self._connecting = asyncio.Lock()
        self._closing = False
        self._topic = f"minibert-{os.urandom(8).hex()}"
        if self.directory.is_dir():
            folders = (folder for folder in self.directory.iterdir() if ID.fullmatch(folder.name))
            self._runs = {run.id: run for run in (restore(self, folder) for folder in folders) if run}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="minibert jobs", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        for run in sorted(self._runs.values(), key=lambda run: run.created):
            if run.state == "queued":  # a previous server was killed
                self._start(self._requeue(run))

    # For pages, in any thread

    def warm_up(self) -> None:
        """Start or find the cluster, in the background. The first `submit` reports what goes wrong."""

        async def connect() -> None:
            if not self._connecting.locked():  # else it is already connecting
                with contextlib.suppress(ClusterError):
                    await self._connect()

        self._start(connect())

    def submit(
        self, target: str | Callable, *args, owner: str, title: str, kind: str = "finetune", address: str = "", **kwargs
    ) -> Run:
        """Queue a run of `target`, a generator function "package.module:name" that yields minibert events.

        A parameter `out` of the target receives a folder to save to; `mailbox` receives a function that returns what
        `Run.send` has sent since its last call. Pass files as `Upload`, alone or in lists. Arguments are copied now.
        Raises QueueFull, ClusterError (no answer at the scheduler's address) and JobError.
        """
        if callable(target):
            target = f"{target.__module__}:{target.__qualname__}"
        try:
            arguments = pickle.dumps((args, kwargs))
        except Exception as error:
            raise JobError(f"An argument of {target} cannot be sent to a worker: {error}") from error
        if not self._thread.is_alive():
            raise JobError("The server is stopping.")
        run = Run(self, self.directory, owner, title, kind, target, address)
        return asyncio.run_coroutine_threadsafe(self._submit(run, arguments), self._loop).result()

    def runs(self, owner: str | None = None) -> list[Run]:
        """Runs of one owner, newest first; of all owners if None."""
        runs = [run for run in list(self._runs.values()) if owner in (None, run.owner)]
        return sorted(runs, key=lambda run: run.created, reverse=True)

    def removed(self, owner: str) -> int:
        """Number of this owner's runs that the limits have removed since the server started."""
        return self._removed[owner]

    def get(self, run_id: str, owner: str | None = None) -> Run | None:
        """The run with this id; None if there is none, or if it does not belong to the given `owner`."""
        run = self._runs.get(run_id)
        return run if run and owner in (None, run.owner) else None

    def position(self, run: Run) -> int | None:
        queue = self._queue
        return queue.index(run) + 1 if run in queue else None

    def cancel(self, run: Run) -> None:
        self._start(self._cancel(run))

    def restart(self, run: Run) -> None:
        """Restart an interrupted run under its id (see `Run.can_restart`). Raises as `submit`."""
        if not self._thread.is_alive():
            raise JobError("The server is stopping.")
        asyncio.run_coroutine_threadsafe(self._restart(run), self._loop).result()

    def send(self, run: Run, message) -> None:
        self._start(self._deliver(run, message))

    def delete(self, run: Run) -> None:
        """Remove an ended run and its files; a run that has not ended is left alone."""
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._delete(run), self._loop).result(timeout=5)

    def close(self) -> None:
        """End all runs, and the cluster if it is embedded. Called when the app exits."""
        atexit.unregister(self.close)
        if self._loop.is_running():
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=5)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=1)

    # The life of a run, in the loop

    async def _submit(self, run: Run, arguments: bytes) -> Run:
        await self._connect()
        self._check_share(run)
        try:
            await asyncio.to_thread(run.store_arguments, arguments)
            run.store()
        except OSError as error:
            await asyncio.to_thread(shutil.rmtree, run.directory, ignore_errors=True)
            raise JobError(f"The run cannot be kept in {self.directory}: {error.strerror}") from error
        self._runs[run.id] = run
        self._enqueue(run)
        return run

    def _check_share(self, run: Run) -> None:
        """Raise QueueFull if the owner of a new run, or all at their address, have used up their share of the queue."""
        limits, queue = self.limits, self._queue
        waiting = Counter(other.owner for other in queue)
        here = {other.owner for other in queue if other.address == run.address}
        if not any(other.owner == run.owner for other in queue + self._active):
            if run.address and len(here) >= limits.first_per_address:
                raise QueueFull(f"{len(here)} people at this address already have runs waiting: try again later.")
            return
        free = max(0, limits.queued - len(queue))
        share = max(1, math.ceil(limits.queued_per_owner * free / limits.queued))
        if not free:
            raise QueueFull(f"{len(queue)} runs are already waiting on this server: try again in a few minutes.")
        if waiting[run.owner] >= share:
            raise QueueFull(
                f"You already have {waiting[run.owner]} runs waiting, and {len(queue)} wait in all: cancel one, or let "
                "one start first."
            )
        # New owners at one address may be cleared cookies, or a class: so count only runs beyond each owner's first.
        more = sum(waiting[owner] - 1 for owner in here)
        if run.address and waiting[run.owner] and more >= max(1, free // 2):
            raise QueueFull(
                f"{more + len(here)} runs of {len(here)} people at your address are already waiting: let one of yours "
                "start first."
            )

    async def _restart(self, run: Run) -> None:
        if run.can_restart and run not in self._active:
            await self._connect()
            self._check_share(run)
            run.tries = 0
            await self._requeue(run)

    async def _requeue(self, run: Run) -> None:
        run.reset_to_queue()
        self._enqueue(run)

    def _enqueue(self, run: Run) -> None:
        run.turn = self._next_turn(run.owner)
        self._queue = serving_order([*self._queue, run])
        self._start_next()

    def _next_turn(self, owner: str) -> int:
        """Everyone's first run, then everyone's second: ten runs of one owner do not make the others wait for all ten.
        (Fair queueing: the turn after the owner's last one, but never before the turn being served.)"""
        return max([self._turn, *(run.turn + 1 for run in self._queue + self._active if run.owner == owner)])

    def _start_next(self) -> None:
        while self._queue and len(self._active) < self._num_slots():
            run, self._queue = self._queue[0], self._queue[1:]
            self._turn = max(self._turn, run.turn)
            self._active.append(run)
            self._spawn(self._execute(run))

    def _num_slots(self) -> int:
        if self.scheduler and self._client:
            return self._client.scheduler_info(n_workers=-1).get("total_threads") or self.max_running
        return self.max_running

    async def _execute(self, run: Run) -> None:
        """Execute a run, from its turn in the queue to its end."""
        import distributed

        from jobs.worker import run_job

        try:
            run.change("starting")
            client = await self._connect()
            arguments = await asyncio.to_thread(run.arguments)
            job = (run_job, run.id, self._topic, run.target, arguments, str(run.directory))
            run.future = client.submit(*job, key=f"minibert-{run.id}-{os.urandom(4).hex()}", pure=False)
            end = await run.future
            run.worker = None  # the worker is free for another run from now on
            files, events = end.pop("files"), end.pop("events")
            if files:
                await self._store_files(run, files)
            if events != len(run.events()) - run.first_event:
                lost = events - len(run.events()) + run.first_event
                raise JobError(f"{lost} of {events} events were lost on their way")
            self._end(run, **end)
            run.drop_arguments()
        except distributed.KilledWorker:
            self._handle_death(run, DIED)
        except (distributed.CancelledError, asyncio.CancelledError):
            self._handle_death(run, GONE)
        except JobError as error:
            self._end(run, "failed", str(error))
        except Exception as error:
            self._end(run, "failed", f"{type(error).__name__}: {error}")
        finally:
            run.future = None  # lets the worker forget the result
            self._release_place(run)
            if run.state == "queued":  # its worker died: try again
                await self._requeue(run)
            elif run.state in ("failed", "cancelled"):
                run.drop_arguments()  # it was not interrupted: no restart
            self._prune(run.owner)

    def _release_place(self, run: Run) -> None:
        """Free the run's place for another."""
        if run in self._active:
            self._active.remove(run)
            self._start_next()

    def _handle_death(self, run: Run, why: str) -> None:
        """A run's worker or connection is gone: requeue the run if it may be retried, else mark it lost."""
        if run.over:
            return
        if run.cancelling or self._closing or not run.can_retry:
            self._end(run, "lost", why)
        else:
            run.tries += 1
            run.change("queued")

    async def _store_files(self, run: Run, files: dict[str, bytes]) -> None:
        """Keep the files of a run. While the disk is full, wait for room without blocking other runs."""
        while True:
            try:
                return await asyncio.to_thread(run.store_files, files)
            except OSError as error:
                if not is_full(error):
                    raise
            if run.over:  # cancelled meanwhile
                return None
            run.future = None
            run.change("storing")
            self._release_place(run)
            self._prune(run.owner)
            await asyncio.sleep(SECONDS_FOR_ROOM)

    def _receive(self, event) -> None:
        """Handle a message of a worker; they arrive in the order they were sent."""
        _, message = event
        run = self._runs.get(message["run"])
        if run is None:
            return
        if "lines" in message and not run.over and run.state != "queued":
            run.add(message["lines"])
        if "started" in message:
            if run.worker:  # an outside scheduler starts a run again elsewhere when its worker has died
                self._end(run, "lost", DIED)
            run.worker = message["started"]
            if not run.over:
                run.change("running")
            self._spawn(self._deliver(run))

    def _end(self, run: Run, state: str, error: str | None = None, traceback: str | None = None) -> None:
        if not run.over:
            run.change(state, error, traceback)

    async def _cancel(self, run: Run) -> None:
        """Tell the worker to stop; after a moment mark the run cancelled; kill the worker if it still runs it later."""
        if run.cancelling:
            return
        run.cancelling = True
        if run in self._queue:
            self._queue = [other for other in self._queue if other is not run]
            self._end(run, "cancelled")
            run.drop_arguments()
            return
        if run.state == "storing":
            self._end(run, "cancelled")
            return
        self._spawn(self._deliver(run))
        if not await self._wait_released(run, SECONDS_TO_CANCEL):
            self._end(run, "cancelled")
            if not await self._wait_released(run, SECONDS_TO_SAVE if run.latest("step") else SECONDS_TO_KILL):
                if self._cluster and run.worker:
                    from jobs.worker import kill

                    await self._client.run(kill, workers=[run.worker], nanny=True, on_error="ignore")
                elif run.future:  # an external worker: not ours to kill
                    await run.future.cancel()

    async def _wait_released(self, run: Run, seconds: float) -> bool:
        deadline = self._loop.time() + seconds
        while run in self._active and self._loop.time() < deadline:
            await asyncio.sleep(0.02)
        return run not in self._active

    async def _deliver(self, run: Run, *messages) -> None:
        """Send a run's pending messages to its worker: one delivery at a time keeps them in order."""
        from jobs.worker import deliver

        run.outgoing.extend(messages)
        async with run.delivering:
            if run.worker and run in self._active and (run.outgoing or run.over or run.cancelling):
                pending, run.outgoing = run.outgoing, []
                stop = run.over or run.cancelling
                with contextlib.suppress(OSError):  # the worker or the scheduler has just died: `_execute` reports it
                    await self._client.run(deliver, run.id, pending, stop, workers=[run.worker], on_error="ignore")

    def _prune(self, owner: str) -> None:
        """Remove ended runs beyond the limits, of this owner and in total, oldest first; the newest always stays.

        Beyond the total, remove first from the owner with most bytes; an owner's only run goes last.
        """
        ended: dict[str, list[tuple[Run, int]]] = {}  # (run, bytes), newest first
        for run in self.runs():
            if run.over and run.future is None and run not in self._active:
                ended.setdefault(run.owner, []).append((run, run.size()))
        mine = ended.get(owner, [])
        while len(mine) > self.limits.kept_per_owner or (
            total_bytes(mine) > self.limits.bytes_per_owner and len(mine) > 1
        ):
            self._removed[owner] += 1
            self._remove(mine.pop()[0])
        while sum(map(len, ended.values())) > 1 and sum(map(total_bytes, ended.values())) > self.limits.bytes:
            several = [runs for runs in ended.values() if len(runs) > 1]
            only = [runs for runs in ended.values() if len(runs) == 1]
            chosen = max(several, key=total_bytes) if several else min(only, key=lambda runs: runs[0][0].created)
            self._removed[chosen[-1][0].owner] += 1
            self._remove(chosen.pop()[0])

    async def _delete(self, run: Run) -> None:
        if run.over and run not in self._active:
            self._remove(run)

    def _remove(self, run: Run) -> None:
        self._runs.pop(run.id, None)
        shutil.rmtree(run.directory, ignore_errors=True)

    # The cluster, in the loop

    async def _connect(self) -> Any:
        """The connected Dask client; starts the cluster if needed, and restarts one that has died."""
        async with self._connecting:
            if self._client is None or self._client.status != "running":
                await self._disconnect()
                try:
                    if not self.scheduler:
                        self.directory.mkdir(parents=True, exist_ok=True)
                        threads = max(1, CORES // self.max_running)
                        log = self.directory / "cluster.log"
                        self._cluster = Cluster(self.max_running, threads, self.preload, log)
                    import dask  # slow: happens while the cluster starts
                    import distributed

                    # Uploads are large. The log is not needed: what matters of it is reported as a run's state.
                    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})
                    for name in ("distributed", "distributed.client"):
                        logging.getLogger(name).setLevel(logging.CRITICAL)
                    cluster = self._cluster
                    address = await asyncio.to_thread(cluster.address) if cluster else self.scheduler
                    client = distributed.Client(
                        address, asynchronous=True, set_as_default=False, timeout=SECONDS_TO_CONNECT
                    )
                    try:
                        await client
                    except BaseException:
                        await client.close()
                        raise
                    client.subscribe_topic(self._topic, self._receive)
                    if self.scheduler:
                        await self._send_code(client)
                    self._client = client
                except Exception as error:
                    where = f"the Dask scheduler at {self.scheduler}" if self.scheduler else "workers of our own"
                    raise ClusterError(f"No connection to {where}: {error or type(error).__name__}") from error
            return self._client

    async def _send_code(self, client) -> None:
        """Upload the packages that runs need to an external scheduler and all its workers, also later ones."""
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder, "minibert-code.zip")
            with zipfile.ZipFile(archive, "w") as file:
                for package in self.code:
                    for source in package.rglob("*.py"):
                        file.write(source, source.relative_to(package.parent))
            await client.upload_file(str(archive), load=True)

    async def _disconnect(self) -> None:
        client, cluster, self._client, self._cluster = self._client, self._cluster, None, None
        if client:
            await client.close(timeout=1)
        if cluster:
            cluster.close()

    async def _close(self) -> None:
        self._closing = True
        for run in self._queue:  # they are stored, and can be restarted
            self._end(run, "cancelled", NOT_BEGUN)
        for run in self._active:
            self._end(run, "lost", STOPPED)
        self._queue = []
        await self._disconnect()

    def _spawn(self, coroutine) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)  # the loop itself holds tasks weakly
        task.add_done_callback(self._tasks.discard)

    def _start(self, coroutine) -> None:
        self._loop.call_soon_threadsafe(self._spawn, coroutine)


def serving_order(queue: list[Run]) -> list[Run]:
    """Runs in serving order: by turn; within a turn the first of each address, then the second of each: a lone visitor
    waits neither for a whole class nor for one person with many owner ids."""
    ordered, counts = [], Counter[tuple[int, str]]()
    for run in sorted(queue, key=lambda run: (run.turn, run.created)):
        counts[run.turn, run.address] += 1
        ordered.append((run.turn, counts[run.turn, run.address] if run.address else 1, run.created, run))
    return [run for *_order, run in sorted(ordered, key=lambda entry: entry[:3])]


def total_bytes(runs: list[tuple[Run, int]]) -> int:
    """Total bytes on disk."""
    return sum(size for _, size in runs)
