"""Folders of the project, its checkpoints, and the runs and uploads."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKPOINTS = ROOT / "checkpoints"


def runs_folder() -> Path:
    """MINIBERT_RUNS, or runs/ beside the app. App servers that share this folder share runs and visitors."""
    return Path(os.environ.get("MINIBERT_RUNS") or ROOT / "runs")
