"""Fine-tuning runs on a page: started, drawn while they go on, asked one's own input, compared, taken away."""

from __future__ import annotations

import json
import shlex
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from minibert.tasks import TASKS, Task
from minibert.tasks.given import input_key
from ui.figures import figure
from ui.finetune_settings import Chosen, start_names
from ui.runs import batch_title, complete, live, own_runs, settled, state_rows, submit, zipped
from ui.task_data import ChosenData, shipped_sets
from ui.tasks import VIEWS
from ui.tasks.base import TaskView
from ui.text import visible
from ui.translations import _, ngettext

KIND = "finetune"  # runs are called finetune/<task>/<time of the click>
LONGEST_COMMAND = 300  # characters of an own input in the command that is printed
_WATCHED = "watched"  # session_state key: {"task", "given"}, the reader's own input


def kind_of(task: str) -> str:
    return f"{KIND}/{task}"


class FinetuneRun:
    """A run as the figures need it: its events read once, its settings and dev examples beside them."""

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
        return "random" if self.settings["from_scratch"] else "pretrained"

    @property
    def seed(self) -> int:
        return self.settings["seed"]

    @property
    def name(self) -> str:
        return f"{start_names()[self.start]}, " + _("seed {n}").format(n=self.seed)

    @property
    def last_eval(self) -> dict | None:
        return self.run.latest("eval")

    @property
    def score(self) -> float:
        """The headline metric, as last measured."""
        return self.last_eval["metrics"][self.details["metric"]]

    def epoch(self, event: dict) -> float:
        return event["step"] / self.details["steps_per_epoch"]


# --- starting ---------------------------------------------------------------------------------------------------------


def start_runs(checkpoint: Path, data: ChosenData, chosen: Chosen, kind: str) -> None:
    """A run for each start and seed, all of one click."""
    from jobs.files import Upload

    task = data.task.name
    batch = f"{kind}/{time.time_ns()}"
    weights = Upload(checkpoint, deep=False)
    known = shipped_sets().get(data.key)
    watched, name = own_input(task), known.title if known else data.name
    for seed in range(chosen.seeds):
        for start in chosen.starts:
            title = f"{name} · {start_names()[start]} · " + _("seed {n}").format(n=seed)
            run = submit(
                "minibert.finetune.run:finetune", weights, task, data.train, data.dev, chosen.of(start, seed),
                watch=[] if watched is None else [watched], title=title, kind=batch,
            )  # fmt: skip
            if run is None:
                return
            st.session_state["shown"] = run.kind


# --- one's own input --------------------------------------------------------------------------------------------------


def own_input(task: str) -> Any | None:
    """What the reader has last asked the models of this task."""
    watched = st.session_state.get(_WATCHED)
    return watched["given"] if watched and watched["task"] == task else None


def ask(task: str, given: Any) -> None:
    """Runs answer this input: those that go on from now on, those that have left a model at once."""
    before = own_input(task)
    if given == before:
        return
    st.session_state[_WATCHED] = {"task": task, "given": given}
    runs = own_runs(kind_of(task))
    for run in runs:
        if not run.over:
            run.send([given])
    if before is not None and runs:
        st.rerun()  # the whole page: the answers stand further down


@st.cache_resource(show_spinner=False, max_entries=6)
def predictor_of(run_id: str, directory: str):
    """The model a run has left. Shared: look, never change it."""
    from minibert.finetune.predictor import Predictor

    return Predictor.from_directory(directory)


@st.cache_data(show_spinner=False, max_entries=500)
def answer_of(run_id: str, directory: str, given: str) -> dict:
    """What the model that a run has left answers to an input, given as JSON."""
    from minibert.finetune.evaluation import answered

    return answered(predictor_of(run_id, directory), json.loads(given))


def last_answers(one: FinetuneRun, given: Any) -> list[tuple[float, dict]]:
    """(epoch, answer) of everything the run has said of this input; where it has said nothing, the model it has left,
    finished or stopped, is asked."""
    asked = input_key(given)
    said = [
        (one.epoch(event), answer)
        for event in one.events
        if event["event"] == "sample"
        for answer in event["answers"]
        if answer.get("asked") == asked
    ]
    if not said and settled(one.run) and complete(one.run.result):
        answer = answer_of(one.run.id, str(one.run.result), json.dumps(given))
        last = next(event for event in reversed(one.events) if "step" in event)
        said = [(one.epoch(last), answer)]
    return said


# --- drawing ----------------------------------------------------------------------------------------------------------


def chosen_runs(kind: str) -> list:
    """The runs of one click, of this browser's runs of a kind; [] if there are none. Newest last."""
    runs = own_runs(kind)
    if not runs:
        return []
    batches = list(dict.fromkeys(run.kind for run in runs))
    if st.session_state.get("shown") not in batches:
        st.session_state["shown"] = batches[0]
    if len(batches) > 1:
        titles = {kind: batch_title([run for run in runs if run.kind == kind]) for kind in batches}
        st.selectbox(_("Runs"), batches, format_func=titles.get, key="shown")
    st.session_state["shown-before"] = st.session_state["shown"]
    return [run for run in reversed(runs) if run.kind == st.session_state["shown"]]


def draw_live(runs: list, draw: Callable[[list[FinetuneRun]], None]) -> None:
    """How far each run is, and `draw` with those that have begun, again and again while one goes on."""

    def look(found: list) -> None:
        draw([one for one in map(FinetuneRun, found) if one.begun])

    live(tuple(run.id for run in runs), look, lambda found: state_rows(found, speed))


def speed(step: dict) -> str:
    return _(" · loss {loss:.3f} · {speed:,.0f} tokens/s").format(loss=step["loss"], speed=step["tokens_per_second"])


def scale_of(view: TaskView, dev_examples: Sequence[dict]):
    """How the task's metric is drawn, with what a trivial answer reaches."""
    from plots.finetuning import Scale

    return Scale(view.metric_title(), view.task.trivial(dev_examples), view.is_share)


def floor_in_words(view: TaskView, floor: float | None) -> str:
    if floor is None:
        return ""
    return _("Dashed: {what}, {floor}.").format(what=view.floor_title(), floor=view.number(floor))


def curves(shown: Sequence[FinetuneRun]) -> None:
    """Training loss and the metric over epochs, a line a run."""
    from plots.finetuning import Curve

    first = shown[0]
    scale, metric = scale_of(first.view, first.details["dev_examples"]), first.details["metric"]
    drawn = [Curve.of(one.start, one.seed, one.details["steps_per_epoch"], metric, one.events) for one in shown]
    now = "; ".join(f"{one.name}: {one.view.number(one.score)}" for one in shown)
    alt = _("Training loss and {metric} on the dev set over epochs, a line a run. Now: {now}.").format(
        metric=scale.title, now=now
    )

    def rows() -> list[dict]:
        return [
            {_("run"): one.name, _("epoch"): one.epoch(event), **event["metrics"]}
            for one in shown
            for event in one.events
            if event["event"] == "eval"
        ]

    draw_curves(first.view, drawn, scale, alt, rows)


def axes_of_curves(data: ChosenData) -> None:
    """Where the curves will be, and what they have to beat: the browser has what draws them before the first run."""
    scale = scale_of(data.view, [vars(example) for example in data.dev.examples])
    alt = _("Training loss and {metric} on the dev set will be drawn here.").format(metric=scale.title)
    draw_curves(data.view, [], scale, alt, None)


def draw_curves(view: TaskView, drawn: list, scale, alt: str, data: Callable[[], Any] | None) -> None:
    from plots.finetuning import learning_curves

    words = floor_in_words(view, scale.floor)
    fig = learning_curves(drawn, start_names(), scale, (_("training loss"), _("epoch")))
    figure(fig, f"{alt} {words}".strip(), key="curves", data=data)
    if words:
        st.caption(words)


def compare_starts(shown: Sequence[FinetuneRun]) -> None:
    """Both starts, seed by seed: mean and spread, whatever comes out."""
    finals: dict[str, list[float]] = {}
    for one in shown:
        if one.run.state == "finished":
            finals.setdefault(one.start, []).append(one.score)
    if sum(map(len, finals.values())) < 2:
        return
    from plots.finetuning import comparison

    view = shown[0].view
    scale = scale_of(view, shown[0].details["dev_examples"])
    st.markdown("### " + _("Pre-trained beside random weights"))
    rows = [
        {
            _("start"): start_names()[start],
            _("runs"): len(values),
            _("mean"): view.number(statistics.fmean(values)),
            _("standard deviation"): view.number(statistics.stdev(values)) if len(values) > 1 else "–",
        }
        for start, values in finals.items()
    ]
    st.table(rows)
    summary = "; ".join(f"{row[_('start')]}: {row[_('mean')]}" for row in rows)
    alt = _("Final {metric} of every run, with mean and standard deviation by start. {summary}.").format(
        metric=scale.title, summary=summary
    )
    figure(comparison(finals, start_names(), scale), alt, key="comparison", data=rows)


def own_answers(shown: Sequence[FinetuneRun], given: Any | None) -> None:
    """How the answer to the reader's input changes while the models learn, and the last one drawn in the text."""
    from plots.finetuning import Said, answers_over_time
    from ui.answers import headline, show_answer

    task = shown[0].task
    st.markdown("### " + _("What they answer"))
    if given is None:
        st.markdown(_("Write a text above, and the models answer."))
        return
    said = {one.name: (one, last_answers(one, given)) for one in shown}
    said = {name: (one, answers) for name, (one, answers) in said.items() if answers}
    if not said:
        st.markdown(_("The answer comes with the next step."))
        return
    drawn = []
    for name, (one, answers) in said.items():
        points = [(epoch, *headline(TASKS[task], answer)) for epoch, answer in answers if "error" not in answer]
        drawn.append(Said(name, one.start, [point for point in points if point[2] is not None]))
    if any(one.points for one in drawn):
        title, top = VIEWS[task].number_title()
        rows = [
            {_("run"): one.name, _("epoch"): epoch, _("answer"): words, title: value}
            for one in drawn
            for epoch, words, value in one.points
        ]
        last = [one.points[-1] for one in drawn if one.points]
        now = "; ".join(f"{words} ({value:.0%})" if top == 1.0 else words for _epoch, words, value in last)
        alt = _("The answer of each run over epochs and how sure it is. Now: {now}.").format(now=now)
        figure(answers_over_time(drawn, title, _("epoch"), top), alt, key="answers", data=rows)
    names = list(said)
    if len(names) > 1:
        picked = st.segmented_control(_("Answer of"), names, default=names[0], required=True, key="answer-of")
    else:
        picked = names[0]
    answer = said[picked if picked in said else names[0]][1][-1][1]
    show_answer(TASKS[task], given, answer, key="own-answer")


def by_kind(shown: Sequence[FinetuneRun]) -> None:
    """Where the data are marked by kind: how right each start is on each."""
    shares: dict[str, dict[str, list[float]]] = {}
    for one in shown:
        kinds: dict[str, list[float]] = {}
        told = zip(one.details["dev_examples"], one.last_eval["details"]["predictions"], strict=True)
        for example, prediction in told:
            if kind := example["extra"].get("kind"):
                kinds.setdefault(kind, []).append(prediction["grade"])
        for kind, grades in kinds.items():
            shares.setdefault(one.start, {}).setdefault(kind, []).append(statistics.fmean(grades))
    if not shares:
        return
    from plots.finetuning import right_by_kind

    words = {
        "plain": _("plain"),
        "negation": _("negation"),
        "contrast": _("contrast"),
        "irony": _("irony"),
        "one": _("one sentence tells"),
        "multiple": _("several sentences tell"),
    }
    order = [*words, *dict.fromkeys(kind for kinds in shares.values() for kind in kinds if kind not in words)]
    words |= {kind: visible(kind, spaces=False) for kind in order if kind not in words}
    drawn = {start: {words[k]: kinds[k] for k in order if k in kinds} for start, kinds in shares.items()}
    rows = [
        {_("start"): start_names()[start], _("kind"): kind, _("right"): statistics.fmean(values)}
        for start, kinds in drawn.items()
        for kind, values in kinds.items()
    ]
    alt = _("How much is right, by kind of example. {rows}.").format(
        rows="; ".join(f"{r[_('start')]}, {r[_('kind')]}: {r[_('right')]:.0%}" for r in rows)
    )
    figure(right_by_kind(drawn, start_names(), _("right")), alt, key="kinds", data=rows)


# --- afterwards -------------------------------------------------------------------------------------------------------


def pick_run(shown: Sequence[FinetuneRun]) -> FinetuneRun:
    names = {one.run.id: one.name for one in shown}
    picked = st.selectbox(_("Run"), list(names), format_func=names.get, key="inspected")
    return next((one for one in shown if one.run.id == picked), shown[0])


def metrics_row(one: FinetuneRun) -> None:
    """All the task's metrics of a run, side by side."""
    metrics = {name: value for name, value in one.last_eval["metrics"].items() if name != "loss"}
    with st.container(horizontal=True, gap="large", key="metrics"):
        for name, value in metrics.items():
            shown = f"{value:.3f}" if name in one.view.not_shares else f"{value:.1%}"
            st.metric(name.replace("_", " "), shown, width="content")
    number = one.last_eval["details"]["measured_on"]
    st.caption(ngettext("Measured on {n} example.", "Measured on {n} examples.", number).format(n=number))


def take_away(one: FinetuneRun) -> None:
    """The model as a file, and the two commands that make it answer over HTTP."""
    if not one.run.files:
        return
    st.download_button(
        _("Download this model"), lambda: zipped(one.run.files), file_name="my-model.zip", mime="application/zip",
        icon=":material/download:", key=f"download-{one.run.id}", on_click="ignore",
    )  # fmt: skip
    st.markdown(_("Two commands, and it answers over HTTP:"))
    st.code("unzip my-model.zip -d my-model\npython -m minibert serve --model my-model", "bash")
    st.markdown(_("Ask it from another terminal, or from any program:"))
    st.code(curl(one.view.task, own_input(one.task), one.settings.get("metadata", ())), "bash", wrap_lines=True)


def curl(task: Task, given: Any, metadata: Sequence[str] = ()) -> str:
    """The command that asks the service: the reader's own input if it is short, else an example. metadata: the columns
    that the model reads; another run may read others, and the service refuses them."""
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if name in task.given_names(metadata)}
    if given is None or len(json.dumps(given, ensure_ascii=False)) > LONGEST_COMMAND:
        given = task.example_input
    body = json.dumps({"inputs": [given]}, ensure_ascii=False)
    return f"curl http://127.0.0.1:8080/predict -d {shlex.quote(body)}"
