"""Folders as bytes: the app and its workers share no file system, so files travel between them in this form."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath

RECORD, EVENTS, RESULT, ARGUMENTS = "run.json", "events.jsonl", "result", "arguments.pickle"  # in a run's folder
RESUME = "resume"  # in the result folder: the state to resume from (minibert.training.resume.FOLDER)
SAVED_EVENT = "told.json"  # in the resume folder: the event that reported this save; a resumed run continues after it


def pack(path: str | Path, *, deep: bool = True) -> dict[str, bytes]:
    """Map relative name → content, for a folder (deep: with subfolders) or one file. Symbolic links are skipped: they
    may point anywhere."""
    path = Path(path)
    if path.is_file():
        return {path.name: path.read_bytes()}
    if not path.is_dir():
        raise FileNotFoundError(f"{path} does not exist")
    found = path.rglob("*") if deep else path.glob("*")
    files = (file for file in sorted(found) if file.is_file() and not file.is_symlink())
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def unpack(files: dict[str, bytes], directory: str | Path) -> Path:
    """Write the output of `pack` as a new `directory`, which appears complete or not at all.

    Raises FileExistsError if `directory` exists, ValueError for a name that leads out of it.
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
    """A file or folder of the app as an argument of `submit`: the target receives the path of a copy on the worker.

    deep: include subfolders. An initial checkpoint does not need them, and they would take disk space while the run
    waits.
    """

    def __init__(self, path: str | Path, *, deep: bool = True):
        self.name, self.files, self.single = Path(path).name, pack(path, deep=deep), Path(path).is_file()

    def unpack(self, directory: Path) -> Path:
        """Unpack into the new `directory`; return the path of the copy."""
        folder = unpack(self.files, directory if self.single else directory / self.name)
        return folder / self.name if self.single else folder
