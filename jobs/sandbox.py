"""Run a function in a process of its own: its memory is bounded, and freed when it ends."""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from typing import Any

GIGABYTE = 1 << 30
MOST_MEMORY, MOST_SECONDS = 3 * GIGABYTE, 60  # CPU seconds: a busy machine must not fail the function
SERVE = "from jobs import sandbox; sandbox.serve"
PATIENCE = 300  # seconds of wall-clock time
NICE = 5  # after pages, but before trainings (10): a user is waiting
_one_at_a_time = threading.Lock()  # several calls at once would each take MOST_MEMORY


class SandboxError(RuntimeError):
    """The function did not finish within its limits."""


def run_sandboxed(target: str, *args, **kwargs) -> Any:
    """Call `target` ("package.module:function") in another process; return its result or raise its exception.

    One call at a time. Raises SandboxError if it takes more than MOST_MEMORY, MOST_SECONDS or PATIENCE.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    with (
        _one_at_a_time,
        subprocess.Popen(
            [sys.executable, "-c", f"{SERVE}({MOST_SECONDS})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the app
        ) as process,
    ):
        try:
            said, _errors = process.communicate(pickle.dumps((target, args, kwargs)), timeout=PATIENCE)
        except BaseException as error:
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise SandboxError(f"more than {PATIENCE} seconds") from None
            raise  # the waiting page is being rerun
    if process.returncode == -getattr(signal, "SIGXCPU", 0) != 0:
        raise SandboxError(f"more than {MOST_SECONDS} seconds")
    if process.returncode:
        raise SandboxError(f"more than {MOST_MEMORY // GIGABYTE} GB of memory")
    done, result = pickle.loads(said)
    if not done:
        raise result
    return result


def serve(seconds: int) -> None:
    """Child process: read the call from standard input, write (succeeded, result or exception) to standard output."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    try:
        import resource
    except ImportError:  # Windows has no such limit
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    target, args, kwargs = pickle.load(sys.stdin.buffer)
    module, _, name = target.partition(":")
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        end = pickle.dumps((True, getattr(importlib.import_module(module), name)(*args, **kwargs)))
    except MemoryError:
        sys.exit(1)
    except Exception as error:  # also of a result that cannot be pickled
        try:
            end = pickle.dumps((False, error))
        except Exception:
            end = pickle.dumps((False, SandboxError(repr(error))))
    out.write(end)
    out.flush()
