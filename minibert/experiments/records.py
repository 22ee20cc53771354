"""A line of results for each finished run, each whole on disk before the next run begins. Needs no torch."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from minibert.text.json_values import json_value


def append_record(path: str | Path, record: dict) -> None:
    """One whole line, on disk before the next arm begins; it takes the place of a line that was cut off."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        file.seek(0)
        lines = file.read()
        whole = lines.rfind(b"\n") + 1
        if whole < len(lines) and is_json(lines[whole:]):  # only its end of line is missing
            file.write(b"\n")
        else:
            file.truncate(whole)
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def check_writable(path: str | Path) -> None:
    """Raise ValueError where `append_record` would fail: it is asked before hours of work, not after."""
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


def is_json(line: bytes) -> bool:
    try:
        json_value(line)
    except ValueError:
        return False
    return True
