"""Fine-tuning runs on a page: starting them, reading their events, predicting an input of the user's own."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from minibert.tasks.given import input_key
from minibert.text.json_values import json_value
from ui.finetune_settings import Chosen, start_names
from ui.model_cache import load_predictor
from ui.model_registry import ModelInfo
from ui.runs import complete, own_runs, settled, submit, weights_to_begin_with
from ui.task_data import ChosenData, shipped_sets
from ui.tasks import VIEWS
from ui.tasks.base import TaskView
from ui.translations import _

SHOWN = "_shown-runs"  # session_state key: the kind of the runs shown, which one click started
KIND = "finetune"  # runs are called finetune/<task>/<time of the click>, of two checkpoints also /FIRST or /SECOND
FIRST, SECOND = "first", "second"
_WATCHED = "_watched"  # session_state key: {"task", "given"}, the user's own input


def kind_of(task: str) -> str:
    return f"{KIND}/{task}"


class FinetuneRun:
    """A run as the figures need it: its events, read once, its settings and the details of its "started" event."""

    def __init__(self, run):
        self.run, self.events = run, run.events()
        begun = run.latest("started")
        self.settings = begun["settings"] if begun else {}
        self.details = begun["details"] if begun else {}

    @property
    def begun(self) -> bool:
        return bool(self.settings) and self.last_eval is not None

    @property
    def task(self) -> str:
        return self.details["task"]

    @property
    def view(self) -> TaskView:
        return VIEWS[self.task]

    @property
    def start(self) -> str:
        if self.settings["from_scratch"]:
            return "random"
        return "other" if self.run.kind.endswith(f"/{SECOND}") else "pretrained"

    @property
    def seed(self) -> int:
        return self.settings["seed"]

    @property
    def began(self) -> str:
        """What it began with, in words: of two checkpoints the name."""
        named = self.start != "random" and self.run.kind.endswith((f"/{FIRST}", f"/{SECOND}"))
        return self.run.title.split(" · ")[-2] if named else start_names()[self.start]

    @property
    def name(self) -> str:
        return _("{start}, seed {n}").format(start=self.began, n=self.seed)

    @property
    def last_eval(self) -> dict | None:
        return self.run.latest("eval")

    @property
    def score(self) -> float:
        """The headline metric, as last measured."""
        return self.last_eval["metrics"][self.details["metric"]]

    @property
    def trained(self) -> float:
        """Epochs of training so far."""
        return self.epoch(self.run.latest("step"))

    def epoch(self, event: dict) -> float:
        return event["step"] / self.details["steps_per_epoch"]


def click_of(run) -> str:
    """The kind of a run without its checkpoint: the same for all runs of one click."""
    return run.kind.removesuffix(f"/{FIRST}").removesuffix(f"/{SECOND}")


def names_of(shown: Sequence[FinetuneRun]) -> dict[str, str]:
    """Start → what runs of it began with."""
    return {**start_names(), **{one.start: one.began for one in shown}}


# --- starting ---------------------------------------------------------------------------------------------------------


def start_runs(first: ModelInfo, second: ModelInfo | None, data: ChosenData, chosen: Chosen, kind: str) -> None:
    """Submit a run for each start and seed; stop at the first that is refused. second: where "other" begins."""
    task = data.task.name
    batch, kinds, names = f"{kind}/{time.time_ns()}", {}, start_names()
    if second is not None:
        kinds = {"pretrained": f"/{FIRST}", "other": f"/{SECOND}"}
        names |= {"pretrained": first.title.replace(" · ", " "), "other": second.title.replace(" · ", " ")}
    known = shipped_sets().get(data.key)
    watched, name = own_input(task), known.title if known else data.name
    for seed in range(chosen.seeds):
        for start in chosen.starts:
            begin = second if start == "other" and second else first
            title = f"{name} · {names[start]} · " + _("seed {n}").format(n=seed)
            run = submit(
                "minibert.finetune.run:finetune",
                weights_to_begin_with(begin.directory),
                task,
                data.train,
                data.dev,
                chosen.of(start, seed),
                probe_inputs=[] if watched is None else [watched],
                title=title,
                kind=batch + kinds.get(start, ""),
            )
            if run is None:
                return
            st.session_state[SHOWN] = batch


# --- one's own input --------------------------------------------------------------------------------------------------


def own_input(task: str) -> Any | None:
    """The last input the user entered for models of this task; None if there is none."""
    watched = st.session_state.get(_WATCHED)
    return watched["given"] if watched and watched["task"] == task else None


def set_own_input(task: str, inputs: Any) -> None:
    """Make `inputs` the user's input, and send it to the active runs, which predict it now and at every evaluation."""
    if inputs == own_input(task):
        return
    st.session_state[_WATCHED] = {"task": task, "given": inputs}
    for run in own_runs(kind_of(task)):
        if not run.over:
            run.send([inputs])


@st.cache_data(show_spinner=False, max_entries=500)
def answer_of(run_id: str, directory: str, inputs: str) -> dict:
    """Prediction of a run's final model. inputs: the input as JSON, which can be hashed for the cache."""
    from minibert.finetune.evaluation import predict_watched

    return predict_watched(load_predictor(run_id, directory), json_value(inputs))


def last_answers(one: FinetuneRun, inputs: Any) -> list[tuple[float, dict]]:
    """(epoch, prediction) of this input: the run's "sample" events, and, once it has ended, its final model.

    Without the latter, an input that was changed during the run would keep the prediction of that moment."""
    key = input_key(inputs)
    answers = [
        (one.epoch(event), answer)
        for event in one.events
        if event["event"] == "sample"
        for answer in event["answers"]
        if answer.get("asked") == key
    ]
    if settled(one.run) and complete(one.run.result):
        last = one.epoch(next(event for event in reversed(one.events) if "step" in event))
        answers = [*dict(one for one in answers if one[0] <= last).items()]  # it may have gone back to an earlier epoch
        if not answers or answers[-1][0] < last:
            answers.append((last, answer_of(one.run.id, str(one.run.result), json.dumps(inputs))))
    return answers
