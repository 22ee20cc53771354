"""A cache of fine-tuned teachers on disk."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from minibert.text.json_values import json_object

MOST = 3  # teachers in the cache; the least recently used is removed
METRICS = "measured.json"  # in a teacher's folder: its metrics on the dev data


class TeacherCache:
    """The place of one teacher in a cache folder; without a folder nothing is cached.

    The subfolder is named by the digest of `start`, the model it is fine-tuned from, and `parts`, all else that
    determines the teacher, by its repr. Teachers are copied out, so that another process may clear the cache meanwhile.
    If the folder cannot be written, nothing is cached.
    """

    def __init__(self, folder: str | Path | None, start: str | Path, parts: Sequence):
        self.place: Path | None = None
        if folder is None:
            return
        digest = hashlib.sha256(repr(parts).encode())
        for path in sorted(Path(start).iterdir()):
            if path.is_file():
                digest.update(path.name.encode())
                with open(path, "rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        self.place = Path(folder) / digest.hexdigest()[:32]

    def copy_to(self, folder: Path) -> dict[str, float] | None:
        """Copy the teacher to the new `folder` and return its metrics; None, and no folder, if there is none."""
        if self.place is None:
            return None
        try:
            shutil.copytree(self.place, folder)
            metrics = json_object(folder / METRICS)
            self.place.touch()  # mark as recently used
            return metrics
        except (OSError, ValueError):
            shutil.rmtree(folder, ignore_errors=True)
            return None

    def put(self, folder: Path, metrics: dict[str, float]) -> None:
        """Cache a copy of the teacher in `folder`. It appears complete or not at all."""
        if self.place is None:
            return
        cache = self.place.parent
        with suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=".new-") as new:
                shutil.copytree(folder, Path(new, "teacher"))
                Path(new, "teacher", METRICS).write_text(json.dumps(metrics), encoding="utf-8")
                Path(new, "teacher").rename(self.place)  # fails if another process was faster
            # This also removes the leftovers of killed processes in time.
            for old in sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime)[:-MOST]:
                shutil.rmtree(old, ignore_errors=True)
