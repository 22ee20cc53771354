"""A line of results for each finished run, synced to disk, and the scale it was made at. Needs no torch."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from minibert.text.json_values import json_value


def append_record(path: str | Path, record: dict) -> None:
    """Append one whole line and sync it to disk; it replaces an incomplete last line."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        file.seek(0)
        lines = file.read()
        whole = lines.rfind(b"\n") + 1
        if whole < len(lines) and is_json(lines[whole:]):  # only the newline is missing
            file.write(b"\n")
        else:
            file.truncate(whole)
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def check_writable(path: str | Path) -> None:
    """Raise ValueError if `append_record` would fail; to be called before hours of work."""
    path = Path(path).absolute()
    try:
        if path.exists():
            with open(path, "ab"):
                return
        beside = next(folder for folder in path.parents if os.path.lexists(folder))
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=beside):
            pass
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None


def as_recorded(values: Any) -> dict:
    """The fields of a dataclass as read back from JSON, which turns tuples into lists."""
    return json_value(json.dumps(asdict(values)))


def agrees(recorded: Mapping, scale: Any) -> bool:
    """Whether a recorded scale is `scale`. A field that is not recorded had its default then; fields that a scale no
    longer has do not count."""
    ours, usual = as_recorded(scale), as_recorded(type(scale)())
    return {name: recorded.get(name, usual[name]) for name in ours} == ours


def is_json(line: bytes) -> bool:
    try:
        json_value(line)
    except ValueError:
        return False
    return True
