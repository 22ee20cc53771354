"""The embedded cluster: a Dask scheduler and its workers, in processes of their own beside the app.

Not a LocalCluster inside the app, for three reasons. Dask spawns its workers, and a spawned process runs the `__main__`
of its parent again, which under Streamlit is a page; here there is none. The app's pages and the scheduler do not
share one interpreter lock. And the cluster lives exactly as long as a pipe the app holds open, so nothing is left
behind however the app ends.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,  # Dask does not retry a run whose worker died; the manager does
    "distributed.scheduler.worker-ttl": None,  # a laptop may sleep; a worker that really died is noticed otherwise
    "distributed.admin.low-level-log-length": 100,  # messages kept after they were sent on; events are among them
    "distributed.deploy.lost-worker-timeout": "1 day",  # the nanny replaces a dead worker, however long that takes
    "distributed.scheduler.http.routes": [],  # no pages over HTTP
    "distributed.worker.http.routes": [],
    # By default Dask polls these up to fifty times a second: 6 % of a core when idle; with these values 1 %.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
}

NICE = 5  # of its processes: below the app's, above the threads that train
# Where no control groups say otherwise, Linux shares a core among sessions first, and only then among their processes;
# the cluster is a session of its own. A page that somebody waits for gets nine tenths of a core that they share.
SESSION, SESSION_NICE = Path("/proc/self/autogroup"), 10


class Cluster:
    """The app's side: starts the cluster's process, reads the scheduler's address from it, and ends it."""

    def __init__(self, workers: int, threads: int, preload: tuple[str, ...], log: Path):
        # OpenMP settings for torch in all workers. Idle threads sleep: two runs that spin on the same cores slow each
        # other down tenfold.
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
        with open(log, "wb") as errors:
            self.process: Any = subprocess.Popen(
                [sys.executable, "-c", "from jobs import cluster; cluster.serve()", json.dumps([workers, preload])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the app, which then closes the pipe
            )
        self.log = log

    def address(self) -> str:
        """Wait for the scheduler's address. Raises OSError with the last line of the log if there is none."""
        if address := self.process.stdout.readline().decode().strip():
            return address
        last_words = self.log.read_text(errors="replace").strip().rpartition("\n")[2]
        raise OSError(f"{last_words or 'the cluster did not start'} (more in {self.log})")

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def yield_to_other_sessions() -> None:
    """Where Linux shares a core among sessions first, leave most of it to those of the app and its users."""
    for _attempt in range(5):
        try:
            SESSION.write_text(str(SESSION_NICE))
        except BlockingIOError:  # it takes one such wish in a tenth of a second
            time.sleep(0.2)
        except OSError:  # another system, or without such groups
            return
        else:
            return


def serve() -> None:
    """The cluster's side: print the scheduler's address, start workers, stay until standard input ends."""
    workers, preload = json.loads(sys.argv[1])
    if hasattr(os, "nice"):
        os.nice(NICE)
    yield_to_other_sessions()
    if sys.platform == "linux":
        # Import torch once, in a fork server. All workers, replacements included, are forked from it: they start at
        # once and share its memory. It imports in parallel with this process.
        multiprocessing.set_forkserver_preload(["jobs.worker", *preload])
        forkserver.ensure_running()
        settings, preload = {"distributed.worker.multiprocessing-method": "forkserver", **SETTINGS}, []
    else:
        settings = SETTINGS
    import dask
    import distributed

    dask.config.set(settings)
    distributed.utils._forkserver_preload_set = True  # else Dask preloads modules of its choice: pandas, not torch
    with tempfile.TemporaryDirectory(prefix="minibert-workers-", ignore_cleanup_errors=True) as scratch:
        cluster = distributed.LocalCluster(
            n_workers=0,
            threads_per_worker=1,  # one run per process: a crash ends only that run
            processes=True,
            memory_limit=1 / workers,
            dashboard_address="127.0.0.1:0",  # None would mean port 8787, occupied or not
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.ERROR,
            local_directory=scratch,
            preload=preload,
        )
        print(cluster.scheduler_address, flush=True)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a run prints goes to the log, not to the app
        cluster.scale(workers)  # after printing the address: the app connects while workers start
        sys.stdin.read()
    os._exit(0)  # the workers notice and end at once, in the middle of a step if need be
