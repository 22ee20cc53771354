"""The protocol of app server and job server: authenticated multiprocessing connections, runs passed by id."""

from __future__ import annotations

import io
import os
import pickle
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jobs.run import Run

KEY = ".jobs-key"  # in the folder of runs: whoever can read it may use the job server


def key_of(directory: Path) -> bytes:
    """The secret shared by the job server and the app servers; the first caller creates it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / KEY
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(32).encode())
    except FileExistsError:
        pass
    return path.read_bytes()


def address_of(text: str) -> tuple[str, int]:
    """Parse "host:port". Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{text!r} is not an address such as 127.0.0.1:8790")
    return host, int(port)


class UnknownRun(Exception):
    """The requested run is no longer kept."""


def packed(value: object, describe: Callable[[Run], object]) -> bytes:
    """Pickle a value; each run in it is replaced by `describe(run)`."""

    class Packer(pickle.Pickler):
        def persistent_id(self, obj: object) -> object:
            return describe(obj) if isinstance(obj, Run) else None

    buffer = io.BytesIO()
    Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def unpacked(data: bytes, resolve: Callable[[Any], Run]) -> Any:
    """Inverse of `packed`; `resolve` maps each description back to its run."""

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, description: Any) -> Run:
            return resolve(description)

    return Unpacker(io.BytesIO(data)).load()
