"""Where the project lies, and where runs and what visitors leave are kept."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKPOINTS = ROOT / "checkpoints"


def runs_folder() -> Path:
    """MINIBERT_RUNS, or runs/ beside the app. App servers that share it share their runs and their visitors."""
    return Path(os.environ.get("MINIBERT_RUNS") or ROOT / "runs")
