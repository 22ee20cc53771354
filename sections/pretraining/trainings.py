"""Pre-trainings of this browser and of shipped models: start, resume, read."""

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st

from minibert.experiments.results import ResultsError, read_records
from minibert.folders import LESSONS
from minibert.text.json_values import json_object
from sections.pretraining.settings import settings_of
from sections.pretraining.texts import TrainingText
from ui.errors import translated
from ui.model_registry import available_models
from ui.runs import PRETRAINING, complete, note_refusal, own_models, own_runs, settled, submit
from ui.text import literal
from ui.translations import _

LOG = "training.jsonl"  # copy of minibert.pretrain.LOG, to avoid the import
WATCHED = "_pretraining-watched"  # session_state key: the user's sentence
SHOWN = "_shown"  # session_state key: the keys of the trainings that are drawn


@dataclass(frozen=True)
class Training:
    """A pre-training as the page shows it: one run, or several if it was stopped and resumed, oldest first; or a
    shipped checkpoint, or a recorded run, with only its log."""

    key: str
    name: str
    runs: tuple = ()
    directory: Path | None = None  # of the model, None without one

    @cached_property
    def events(self) -> list[dict]:
        events = [event for run in self.runs for event in run.events()]
        if self.directory and not any(event["event"] == "started" for event in events):
            since = self.kept.created if self.runs else math.inf  # the first run is deleted, a later one may continue
            later = [event for run in self.runs if run.created > since for event in run.events()]
            return [*logged(self.directory), *later] or events
        return events

    @cached_property
    def begun(self) -> dict | None:
        return self.latest("started")

    def latest(self, kind: str) -> dict | None:
        return next((event for event in reversed(self.events) if event["event"] == kind), None)

    @property
    def settings(self) -> dict:
        return self.begun["settings"] if self.begun else {}

    @property
    def vocab_size(self) -> int | None:
        if self.begun:
            return self.begun["details"].get("vocab_size")
        return json_object(self.directory / "config.json")["vocab_size"] if self.directory else None

    @property
    def toy(self) -> bool:
        return bool(self.begun) and "world" in self.begun["details"]

    @property
    def resumed_from(self) -> Any:
        """The last run that left a state to resume from: later ones may have ended before they saved one."""
        return next((run for run in reversed(self.runs) if (run.result / "resume").is_dir()), None)

    @property
    def resumable(self) -> bool:
        run = self.runs[-1]
        return settled(run) and run.state != "finished" and self.resumed_from is not None and bool(self.settings)

    @property
    def kept(self) -> Any:
        """The last run that left a complete model."""
        return next((run for run in reversed(self.runs) if complete(run.result)), None)


@st.cache_data(show_spinner=False, max_entries=8)
def read_log(path: Path, version: int) -> list[dict]:
    return read_records(path, {"event"})


def logged(directory: Path) -> list[dict]:
    """The events that a finished pre-training left beside its model; [], after showing the reason, if the log is
    unreadable."""
    path = directory / LOG
    try:
        return read_log(path, path.stat().st_mtime_ns) if path.is_file() else []
    except ResultsError as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return []


def trainings_of(runs: Sequence) -> list[Training]:
    """Runs, newest first, grouped by pre-training, newest first."""
    kinds = list(dict.fromkeys(run.kind for run in runs))
    groups = {kind: tuple(run for run in reversed(runs) if run.kind == kind) for kind in kinds}
    trainings = [Training(kind, group[-1].title, group) for kind, group in groups.items()]
    return [replace(one, directory=one.kept.result) if one.kept else one for one in trainings]


def own_trainings() -> list[Training]:
    return trainings_of(own_runs(PRETRAINING))


def shipped_trainings() -> list[Training]:
    runs = {run.id for run in own_models()}
    return [
        Training(info.name, _("{name}, shipped").format(name=info.title), (), info.directory)
        for info in available_models(fill=True)
        if info.directory and info.name not in runs and (info.directory / LOG).is_file()
    ]


def default_name(text: TrainingText, chosen: dict) -> str:
    return _("{text}, {size}").format(text=text.name, size=chosen["preset"])


def start(text: TrainingText, chosen: dict, name: str) -> None:
    taken = {training.name for training in own_trainings()}
    if name in taken:
        name = next(f"{name} ({n})" for n in range(2, len(taken) + 3) if f"{name} ({n})" not in taken)
    files = {} if text.world else {"train.txt": as_file(text.train), "dev.txt": as_file(text.dev)}
    settings = settings_of(chosen, toy=text.world is not None)
    begin(settings, files, f"{PRETRAINING}/{time.time_ns()}", name, world=text.world)


def as_file(documents: list[list[str]]) -> bytes:
    return "\n\n".join("\n".join(document) for document in documents).encode()


def begin(
    settings,
    files: dict[str, bytes],
    kind: str,
    name: str,
    *,
    world: str | None = None,
    resume_from: Path | None = None,
) -> None:
    """Submit a run on a toy `world` or on `files`; the files are kept beside the run so that it can be resumed."""
    from jobs.files import Upload, unpack

    options = {"probe_inputs": [st.session_state.get(WATCHED, "")], "title": name, "kind": kind}
    if resume_from is not None:
        options["resume_from"] = Upload(resume_from)
    try:
        if not files:
            run = submit("minibert.toy.pretrain:pretrain_toy", settings, world=world, **options)
        else:
            with tempfile.TemporaryDirectory() as folder:
                texts = unpack(files, Path(folder, "text"))
                parts = {
                    part: [Upload(texts / f"{part}.txt")] if files[f"{part}.txt"] else [] for part in ("train", "dev")
                }
            run = submit("minibert.pretrain:pretrain", settings, parts["train"], dev=parts["dev"], **options)
            if run is not None:
                unpack(files, run.directory / "text")
    except OSError as error:
        note_refusal(error)
        return
    if run is not None:
        st.session_state[SHOWN] = [kind]


def resume(training: Training) -> None:
    from minibert.pretrain import PretrainSettings

    run = training.resumed_from
    text = run.directory / "text"
    files = {path.name: path.read_bytes() for path in text.iterdir()} if text.is_dir() else {}
    world = training.begun["details"].get("world")
    settings = PretrainSettings.from_dict(training.settings)
    begin(settings, files, training.key, training.name, world=world, resume_from=run.result)


def all_trainings() -> dict[str, Training]:
    """By key: this browser's, newest first, then those of shipped models and one recorded on the toy world, which is
    first of these while the toy world is chosen."""
    recorded = Training("toy", _("toy world, recorded"), (), LESSONS / "pretraining")
    toy = st.session_state.get("data", "toy") == "toy"
    shipped = sorted((*shipped_trainings(), recorded), key=lambda one: one.toy != toy)
    return {training.key: training for training in (*own_trainings(), *shipped)}


def chosen_trainings(trainings: dict[str, Training]) -> list[Training]:
    """The trainings that the user has chosen, else the newest; plus all in progress."""
    keys = [key for key in st.session_state.get(SHOWN, []) if key in trainings] or list(trainings)[:1]
    going = [one for one in trainings.values() if one.runs and not settled(one.runs[-1])]
    return list({one.key: one for one in (*(trainings[key] for key in keys), *going)}.values())


def run_ids(trainings: Sequence[Training]) -> tuple[str, ...]:
    """The ids of their runs, in the order that `trainings_of` expects."""
    return tuple(run.id for training in trainings for run in reversed(training.runs))


def trainings_now(chosen: Sequence[Training], runs: list) -> list[Training]:
    """The chosen trainings with the current state of their runs, if there is something to draw."""
    now = {training.key: training for training in trainings_of(runs)}
    trainings = [now.get(one.key, one) for one in chosen if one.key in now or not one.runs]
    return [one for one in trainings if one.latest("step") or one.latest("eval")]
