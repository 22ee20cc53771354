"""The classroom's own server, started anew for a test."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LESSON_PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")} - {"classroom"}  # which is the teacher's alone


@contextmanager
def fresh_server(folder: Path) -> Iterator[str]:
    """The address of the app, served with folders of its own under `folder`, as soon as it answers; nobody has opened
    a page yet. Exceptions are shown in full."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "client.showErrorDetails": "full",
    }
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        *(f"--{key}={value}" for key, value in options.items()),
    ]
    environment = os.environ | {"HOME": str(folder), "MINIBERT_RUNS": str(folder / "runs")}
    with open(folder / "log.txt", "w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).close()
                    break
                except OSError:
                    if process.poll() is not None:
                        break
                    time.sleep(0.1)
            else:
                process.kill()
            if process.poll() is not None:
                log.seek(0)
                pytest.fail(f"the server did not start:\n{log.read()}")
            yield address
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(timeout=15)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
