"""How an app server and the job server talk: authenticated connections (multiprocessing's), and runs by their id."""

from __future__ import annotations

import io
import os
import pickle
import secrets
from collections.abc import Callable
from pathlib import Path

from jobs.run import Run

KEY = ".jobs-key"  # in the folder of runs: who can read that may ask for anything


def key_of(directory: Path) -> bytes:
    """The secret that the job server and the app servers share; made by the first who asks for it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / KEY
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(32).encode())
    except FileExistsError:
        pass
    return path.read_bytes()


def address_of(text: str) -> tuple[str, int]:
    """Of "host:port". Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{text!r} is not an address such as 127.0.0.1:8790")
    return host, int(port)


class Forgotten(Exception):
    """A run that is no longer kept."""


def packed(value: object, named: Callable[[Run], object]) -> bytes:
    """A value as bytes; each run in it as what `named` says of it."""

    class Packer(pickle.Pickler):
        def persistent_id(self, thing):
            return named(thing) if isinstance(thing, Run) else None

    buffer = io.BytesIO()
    Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def unpacked(data: bytes, found: Callable[[object], Run]) -> object:
    """What was packed, with the runs that `found` finds for their names."""

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, name):
            return found(name)

    return Unpacker(io.BytesIO(data)).load()
