"""Models with saved steps of their training."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from sections.pretraining.trainings import logged
from ui.model_registry import available_models
from ui.runs import own_models
from ui.translations import _


@dataclass(frozen=True)
class ModelWithSteps:
    """A model with its saved steps, oldest first; the last is the model itself, with path None."""

    name: str
    title: str
    directory: Path
    steps: tuple[tuple[str, Path | None], ...]  # label of the step, and its file


def pasts() -> list[ModelWithSteps]:
    from minibert.training.snapshots import listed

    found_ones = []
    for info in available_models(fill=True):
        if info.directory is None:
            continue
        kept = listed(info.directory)
        if kept:
            last = next((event["step"] for event in reversed(logged(info.directory)) if event["event"] == "step"), None)
            steps = [(f"{one.step:,}", one.path) for one in kept]
            end = (_("the end") if last is None else f"{last:,}", None)
            found_ones.append(ModelWithSteps(info.name, info.title, info.directory, (*steps, end)))
    own = {run.id: i for i, run in enumerate(own_models())}
    return sorted(found_ones, key=lambda past: own.get(past.name, len(own)))  # newest run first, shipped models last


@dataclass(frozen=True)
class SavedStep:
    """One saved step of a model; `version` changes when the model is replaced."""

    directory: Path
    path: Path | None
    version: int


def moments(past: ModelWithSteps) -> list[SavedStep]:
    version = (past.directory / "model.safetensors").stat().st_mtime_ns
    return [SavedStep(past.directory, path, version) for _label, path in past.steps]


@st.cache_resource(show_spinner=False, max_entries=4)  # each entry is a model; loading another is fast
def model_at(moment: SavedStep):
    """The model at that step; shared by all sessions, never changed."""
    from minibert import checkpoint
    from minibert.model import BertForPreTraining
    from minibert.training import snapshots

    if moment.path is None:
        return checkpoint.load(moment.directory, kind=BertForPreTraining)
    kept = next(one for one in snapshots.listed(moment.directory) if one.path == moment.path)
    return snapshots.load(moment.directory, kept)
