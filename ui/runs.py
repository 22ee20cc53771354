"""What has been trained on this server, from the jobs' records."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """A finished training run: a title, when it ended (seconds since 1970), its main figures, its weights."""

    id: str
    title: str
    finished: float
    metrics: dict[str, float]
    directory: Path | None = None


def finished_runs() -> list[Run]:
    """This session's finished runs, newest first; empty while nothing has been trained."""
    return []
