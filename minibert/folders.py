"""Folders: what ships with the project (ROOT) and what it writes (USER_DATA).

In a clone both are the clone. In an installed package, ROOT is minibert/classroom, where the wheel puts app.py,
course.py and the folders beside them; USER_DATA is the user's. CACHE may be deleted at any time.
"""

import os
import shutil
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
if (PACKAGE / "classroom").is_dir():
    ROOT = PACKAGE / "classroom"
    USER_DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "minibert"
    CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minibert"
else:
    ROOT = USER_DATA = PACKAGE.parent
    CACHE = ROOT / "cache"
CHECKPOINTS = ROOT / "checkpoints"
LESSONS = ROOT / "lessons"


def runs_folder() -> Path:
    """MINIBERT_RUNS, or runs/ in USER_DATA. App servers that share this folder share runs and visitors."""
    return Path(os.environ.get("MINIBERT_RUNS") or USER_DATA / "runs")


def models_folder() -> Path | None:
    """MINIBERT_MODELS: a folder of further checkpoints, each a folder in it; None if it is not set."""
    folder = os.environ.get("MINIBERT_MODELS")
    return Path(folder).expanduser().absolute() if folder else None


def results_to_read(name: str) -> Path:
    """The recorded results `name` (albert.jsonl): in MINIBERT_RESULTS; else what was recorded here, or what ships."""
    if folder := os.environ.get("MINIBERT_RESULTS"):
        return Path(folder, name)
    own = USER_DATA / "lessons" / "results" / name
    return own if own.exists() else LESSONS / "results" / name


def results_to_extend(name: str) -> Path:
    """The file in USER_DATA that new results are appended to; it begins as a copy of what ships."""
    own, shipped = USER_DATA / "lessons" / "results" / name, LESSONS / "results" / name
    if not own.exists() and shipped.exists():
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shipped, own)
    return own


def input_path(path: str | Path) -> Path:
    """`path` itself; if nothing is there, what ships under that name, such as checkpoints/mini-en."""
    exists = os.path.exists  # which says no, where Path.exists raises, of what cannot be a name
    return ROOT / path if not exists(path) and exists(ROOT / path) else Path(path)
