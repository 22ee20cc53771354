"""Ask every layer: probes trained live, beside random weights; before that, recorded ones."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from minibert.experiments.results import ResultsError, read_records
from minibert.folders import results_to_read
from sections.probes import lines
from sections.probes.subject import Inputs
from sections.probes.tasks import choose_tasks, show_tasks
from ui.computations import compute, fingerprint, follow, name_of, running_or_done, show_failure
from ui.errors import translated
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.model_registry import UNTRAINED, available_models
from ui.runs import show_refusal
from ui.text import literal
from ui.translations import _, ngettext

if TYPE_CHECKING:
    from minibert.inside.probes.probe import TaskResult
    from minibert.inside.probes.tasks import ProbeTask

SEEDS = 3
RECORD_FIELDS = {"tasks", "random", "event", "task", "test"}


def _start(name: str, model: str, random: bool, tasks: "list[ProbeTask]", seeds: int, title: str) -> None:
    """Probe a model, or one of its shape with random weights, in its own job."""
    from jobs.files import Upload
    from minibert import checkpoint
    from minibert.inside.probes.probe import untrained_copy

    loaded = load(model)
    with tempfile.TemporaryDirectory() as folder:
        weights = untrained_copy(loaded.model) if random else loaded.model
        packed = Upload(checkpoint.save(f"{folder}/model", weights, loaded.tokenizer))
    compute(name, "minibert.inside.probes.probe:probe_layers", packed, tasks, seeds, title=title)


@dataclass(frozen=True)
class Results:
    """ours, random: results of the model and of random weights in its shape · over: whether they are complete."""

    ours: "list[TaskResult]"
    random: "list[TaskResult]"
    over: bool


def show(lesson: Lesson, inputs: Inputs) -> None:
    follow_results(inputs.model, lambda results: lines.show(results.ours, results.random))
    lesson.show("What is a probe?", level=3)
    lesson.show("Ask every layer", level=3)


def follow_results(model: str, draw: Callable[[Results], None]) -> None:
    """The controls, and `draw` with the results so far: from the user's runs, else recorded ones."""
    chosen = choose_tasks(model)
    if chosen is None:
        return
    tasks, print_of_tasks = chosen
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        seeds = st.slider(_("Seeds"), 1, 5, SEEDS, key="seeds", bind="query-params", width=240)
        beside = model != UNTRAINED and st.toggle(
            _("Beside it, random weights"), value=True, key="beside", bind="query-params"
        )
    title = next(info.title for info in available_models() if info.name == model)
    titles = {False: title} | ({True: _("random weights")} if beside else {})
    names = {
        random: "probes-" + fingerprint(model, version_of(model), random, print_of_tasks, seeds) for random in titles
    }
    missing = [random for random, name in names.items() if running_or_done(name) is None]
    if missing:
        a_layer = sum(1 if task.unit == "sentence" else 2 for task in tasks)  # probes per layer; 2 with a control task
        probes = a_layer * seeds * (load(model).config.num_hidden_layers + 1) * len(missing)
        label = ngettext("Train {n} probe", "Train {n} probes", probes).format(n=f"{probes:,}")
        if st.button(label, key="probe", type="primary", icon=":material/play_arrow:"):
            for random in missing:
                _start(names[random], model, random, tasks, seeds, titles[random])
            st.rerun()
    show_refusal()
    for random in missing:
        show_failure(names[random])
    if len(missing) == len(names):
        _before_any(model, print_of_tasks, beside, draw)
    else:
        follow(tuple(names.values()), lambda runs: draw(_gathered(runs, names)))
    with st.expander(_("The {n} tasks").format(n=len(tasks)), icon=":material/list:"):
        show_tasks(tasks)


def _before_any(model: str, print_of_tasks: str, beside: bool, draw: Callable[[Results], None]) -> None:
    """Recorded results for these tasks; without any, a hint what to do."""
    ours, random, seeds = recorded(model, print_of_tasks)
    if not ours:
        with st.container(border=True):
            st.markdown(_("**No probe yet.** Press the button: the first lines come within seconds."))
        draw(Results([], [], False))
        return
    phrase = _("Recorded from {model}, {n} seeds. Press the button to train them here.")
    st.caption(phrase.format(model=model, n=seeds))
    draw(Results(ours, random if beside else [], True))


def _gathered(runs: list, names: dict[bool, str]) -> Results:
    """names: of the computations, by whether their weights are random."""
    from minibert.inside.probes.probe import gathered

    results = {name_of(run): gathered(run.events()) for run in runs}
    return Results(results.get(names[False], []), results.get(names.get(True), []), all(run.over for run in runs))


def path_of(model: str) -> Path:
    return results_to_read(f"{model}/probes.jsonl")


def recorded(model: str, tasks: str) -> "tuple[list[TaskResult], list[TaskResult], int]":
    """(results of the model, of random weights in its shape, seeds) for tasks with this fingerprint; empty without."""
    from minibert.inside.probes.probe import gathered

    path = path_of(model)
    try:
        rows = _rows(path, path.stat().st_mtime_ns if path.exists() else 0)
    except (ResultsError, OSError) as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return [], [], 0
    matching = [row for row in rows if row["tasks"] == tasks]
    ours, random = (gathered([row for row in matching if row["random"] is kind]) for kind in (False, True))
    return ours, random, len(ours[0].accuracy) if ours else 0


@st.cache_data(show_spinner=False, max_entries=8)
def _rows(path: Path, changed: int) -> list[dict]:
    return read_records(path, RECORD_FIELDS)
