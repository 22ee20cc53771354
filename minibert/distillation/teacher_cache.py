"""A cache of fine-tuned teachers, so that the next student of the same teacher need not wait for it."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from minibert.text.json_values import json_object

MOST = 3  # teachers kept; the least recently used is removed
MEASURED = "measured.json"  # beside a teacher's files: its metrics on the dev data


class TeacherCache:
    """A folder with one subfolder per teacher, named by the digest of its start, data and settings. Teachers are copied
    out, so that another process may clear the cache meanwhile. If the folder cannot be written, nothing is kept."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    def place(self, start: str | Path, parts: Sequence) -> Path:
        """The subfolder for the teacher fine-tuned from `start`, a model's folder. parts: everything else that
        determines the teacher, identified by its repr."""
        digest = hashlib.sha256(repr(parts).encode())
        for path in sorted(Path(start).iterdir()):
            if path.is_file():
                digest.update(path.name.encode())
                with open(path, "rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return self.folder / digest.hexdigest()[:32]

    def take(self, place: Path, folder: Path) -> dict[str, float] | None:
        """Copy the teacher to the new `folder` and return its metrics; None, and no folder, if there is none."""
        try:
            shutil.copytree(place, folder)
            metrics = json_object(folder / MEASURED)
            place.touch()  # mark as recently used
            return metrics
        except (OSError, ValueError):
            shutil.rmtree(folder, ignore_errors=True)
            return None

    def put(self, place: Path, folder: Path, metrics: dict[str, float]) -> None:
        """Keep a copy of the teacher in `folder`. It appears complete or not at all."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as new:
                shutil.copytree(folder, Path(new, "teacher"))
                Path(new, "teacher", MEASURED).write_text(json.dumps(metrics), encoding="utf-8")
                Path(new, "teacher").rename(place)  # fails if another process was faster
            # This also removes the leftovers of killed processes in time.
            for old in sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)[:-MOST]:
                shutil.rmtree(old, ignore_errors=True)
