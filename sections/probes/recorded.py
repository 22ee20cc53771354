"""Recorded probes: lessons/results/<model>/probes.jsonl, written by bench.probes."""

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from minibert.experiments.results import ResultsError, read_records
from minibert.folders import results_to_read
from ui.text import literal

if TYPE_CHECKING:
    from minibert.inside.probes.probe import TaskResult

FIELDS = {"tasks", "random", "event", "task"}


def path_of(model: str) -> Path:
    return results_to_read(f"{model}/probes.jsonl")


def recorded(model: str, tasks: str) -> "tuple[list[TaskResult], list[TaskResult], int]":
    """(results of the model, of random weights in its shape, seeds) for tasks with this fingerprint; empty without."""
    from minibert.inside.probes.probe import gathered

    path = path_of(model)
    try:
        rows = _rows(path, path.stat().st_mtime_ns if path.exists() else 0)
    except (ResultsError, OSError) as error:
        st.error(literal(error), icon=":material/error:")
        return [], [], 0
    matching = [row for row in rows if row["tasks"] == tasks]
    ours, random = (gathered([row for row in matching if row["random"] is kind]) for kind in (False, True))
    return ours, random, len(ours[0].accuracy) if ours else 0


@st.cache_data(show_spinner=False, max_entries=8)
def _rows(path: Path, changed: int) -> list[dict]:
    return read_records(path, FIELDS)
