"""A shelf of teachers that have learned: the next student of the same teacher does not wait for it."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from minibert.text.json_values import json_object

MOST = 3  # teachers on a shelf; the one asked for longest ago makes room
MEASURED = "measured.json"  # beside a teacher's files: its metrics on the dev data


class Shelf:
    """A folder. A teacher stands under the digest of what it was made of. Whoever takes one gets a copy, so that
    another process may clear the shelf meanwhile. Where nothing can be written, nothing is kept."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    def place(self, start: str | Path, parts: Sequence) -> Path:
        """Where the teacher stands that `start`, a model's folder, became. parts: the rest of what it was made of;
        what they are must show in their repr."""
        digest = hashlib.sha256(repr(parts).encode())
        for path in sorted(Path(start).iterdir()):
            if path.is_file():
                digest.update(path.name.encode())
                with open(path, "rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return self.folder / digest.hexdigest()[:32]

    def take(self, place: Path, folder: Path) -> dict[str, float] | None:
        """Copy the teacher to a new folder, and return its metrics; None, and no folder, where there is none."""
        try:
            shutil.copytree(place, folder)
            metrics = json_object(folder / MEASURED)
            place.touch()  # asked for now
            return metrics
        except (OSError, ValueError):
            shutil.rmtree(folder, ignore_errors=True)
            return None

    def put(self, place: Path, folder: Path, metrics: dict[str, float]) -> None:
        """Keep a copy of the teacher in a folder. It appears whole or not at all."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as new:
                shutil.copytree(folder, Path(new, "teacher"))
                Path(new, "teacher", MEASURED).write_text(json.dumps(metrics), encoding="utf-8")
                Path(new, "teacher").rename(place)  # fails where another was quicker
            # What a process that died was about to put there ages, too.
            for old in sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)[:-MOST]:
                shutil.rmtree(old, ignore_errors=True)
