"""Folders as bytes: the app and its workers share no file system, so what one has travels to the other like this."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath

RECORD, EVENTS, RESULT, ARGUMENTS = "run.json", "events.jsonl", "result", "arguments.pickle"  # in a run's folder
RESUME = "resume"  # in its result: what it takes to go on (minibert.training.resume.FOLDER)
TOLD = "told.json"  # in that: the last event that led to it; what goes on follows this one


def pack(path: str | Path, *, deep: bool = True) -> dict[str, bytes]:
    """Relative name → content, of a folder (deep: and the folders in it) or of one file. Links are left out: they may
    lead anywhere."""
    path = Path(path)
    if path.is_file():
        return {path.name: path.read_bytes()}
    if not path.is_dir():
        raise FileNotFoundError(f"{path} does not exist")
    found = path.rglob("*") if deep else path.glob("*")
    files = (file for file in sorted(found) if file.is_file() and not file.is_symlink())
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def unpack(files: dict[str, bytes], directory: str | Path) -> Path:
    """Write what `pack` read as a new `directory`, which appears whole or not at all.

    Raises FileExistsError when `directory` is there already, ValueError for a name that would lead out of it.
    """
    directory = Path(directory)
    for name in files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or any(c in name for c in "\\:\0"):
            raise ValueError(f"{name!r} is not the name of a file inside a folder")
    if directory.exists():
        raise FileExistsError(f"{directory} already exists: choose another name")
    directory.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    try:
        temporary.chmod(0o755)
        for name, content in files.items():
            target = temporary / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        os.rename(temporary, directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return directory


class Upload:
    """An argument of `submit` that is a file or folder of the app: the target gets the path of a copy at the worker.

    deep: with the folders in the folder. Of a checkpoint to begin with they are not needed, and while a run waits its
    arguments are kept in memory.
    """

    def __init__(self, path: str | Path, *, deep: bool = True):
        self.name, self.files, self.single = Path(path).name, pack(path, deep=deep), Path(path).is_file()

    def unpack(self, directory: Path) -> Path:
        """The path of the copy, inside the new `directory`."""
        folder = unpack(self.files, directory if self.single else directory / self.name)
        return folder / self.name if self.single else folder
