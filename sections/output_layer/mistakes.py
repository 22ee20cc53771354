"""Right and wrong: a run's predictions on the dev set or a test file, mistakes first; the intervals; its files."""

import json
import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import streamlit as st

from minibert.tasks import TASKS, Task, TaskData
from sections.output_layer import edit
from sections.output_layer.subject import Inputs
from sections.output_layer.train import chosen_runs, download
from ui.answers import show_review
from ui.errors import translated
from ui.figures import figure
from ui.finetune_runs import FinetuneRun, kind_of, names_of, own_input
from ui.lesson import Lesson
from ui.model_cache import load_predictor
from ui.runs import complete, settled
from ui.task_data import own_test_file, warn_of_both
from ui.text import literal, one_by_one, visible
from ui.translations import _, ngettext

RIGHT_OR_WRONG = ("accuracy", "both", "recall_at_1", "exact_match")  # shares of examples
LONGEST_COMMAND = 300  # most characters of the user's input in the printed command


def show(lesson: Lesson, subject: Inputs) -> None:
    runs = chosen_runs(kind_of(subject.task.name))
    shown = [one for one in map(FinetuneRun, runs) if one.begun and settled(one.run)]
    if not shown:
        st.info(_("Train first: when a run has ended, its mistakes stand here."), icon=":material/arrow_back:")
        lesson.show("How much to believe", level=3)
        lesson.show("Read the mistakes", level=3)
        return
    one = _pick(shown)
    examples, measured = _measured(one, subject)
    _metrics(one, examples, measured)
    show_review(TASKS[one.task], examples, measured["details"], key="review")
    edit.show(one, examples, measured["details"]["predictions"])
    lesson.show("Read the mistakes", level=3)
    if "plain" in by_kind(shown):
        lesson.show("The kinds of our reviews", title=False)
    lesson.show("How much to believe", level=3)
    with st.expander(lesson.section("From file to service")[0], icon=":material/download:"):
        lesson.show("From file to service", title=False)
        take_away(one)


def _pick(shown: Sequence[FinetuneRun]) -> FinetuneRun:
    names = {one.run.id: f"{one.name} · {one.view.metric_title()} {one.view.number(one.score)}" for one in shown}
    picked = st.selectbox(_("Run"), list(names), format_func=names.get, key="inspected")
    return next((one for one in shown if one.run.id == picked), shown[0])


def _measured(one: FinetuneRun, subject: Inputs) -> tuple[list[dict], dict]:
    """(examples, evaluation of the run on them): of the dev set, or of a test file of the user's own."""
    place = st.container()
    with st.expander(_("Measure on a test file of your own"), icon=":material/upload_file:"):
        data = own_test_file(one.task, place) if complete(one.run.result) else None
    if data is None:
        return one.details["dev_examples"], one.last_eval
    if subject.data:
        warn_of_both(replace(subject.data, dev=data), place)
    try:
        with st.spinner(_("Measuring …")):
            return _on_file(one.run.id, str(one.run.result), data)
    except ValueError as error:
        place.error(literal(translated(error)), icon=":material/error:")
        return one.details["dev_examples"], one.last_eval


@st.cache_data(show_spinner=False, max_entries=16, hash_funcs={TaskData: lambda data: repr(data.examples)})
def _on_file(run_id: str, directory: str, data: TaskData) -> tuple[list[dict], dict]:
    from minibert.finetune.evaluation import evaluate, unknown_labels
    from minibert.tasks.metadata import metadata_values

    predictor = load_predictor(run_id, directory)
    unknown_labels(predictor, data)
    metadata_values(data, predictor.options.metadata)
    predictor.task.check_reading(predictor.options, data)
    return [asdict(example) for example in data.examples], evaluate(predictor, data).as_dict()


def _metrics(one: FinetuneRun, examples: Sequence[dict], measured: dict) -> None:
    """All metrics of a run side by side, and how far the headline may be from what other examples would give."""
    metrics = {name: value for name, value in measured["metrics"].items() if name != "loss"}
    with st.container(horizontal=True, gap="large", key="metrics"):
        for name, value in metrics.items():
            shown = f"{value:.3f}" if name in one.view.not_shares else f"{value:.1%}"
            st.metric(name.replace("_", " "), shown, width="content")
    number = measured["details"]["measured_on"]
    words = ngettext("Measured on {n} example.", "Measured on {n} examples.", number).format(n=number)
    kept = examples if len(examples) == number else []  # of very many, only a part
    if found := intervals(one.task, metrics, number, kept, measured["details"]["predictions"]):
        named = _(", ").join(
            f"{name.replace('_', ' ')} {one.view.number(low)} – {one.view.number(high)}"
            for name, (low, high) in found.items()
        )
        other = _("Another choice of examples would give {named} (95 % interval).").format(named=named)
        words = one_by_one(words, other)
    st.caption(words)


def intervals(
    task: str, metrics: Mapping[str, float], number: int, kept: Sequence[dict], answers: Sequence[dict]
) -> dict[str, tuple[float, float]]:
    """The headline metric, and for spans the exact match → its interval, measured on `number` examples. kept: all of
    them with the predictions, or none: then only what counts right examples has an interval."""
    from minibert.training.statistics import wilson

    found = {}
    for name in (TASKS[task].metric, "exact_match"):
        if name in metrics and number > 1 and name in RIGHT_OR_WRONG:
            found[name] = wilson(metrics[name] * number, number)
        elif name in metrics and len(kept) > 1:
            found[name] = _drawn_anew(task, kept, answers)[name]
    return found


@st.cache_data(show_spinner=False, max_entries=64)
def _drawn_anew(name: str, kept: Sequence[dict], answers: Sequence[dict]) -> dict[str, tuple[float, float]]:
    """Metric → its interval, from choosing anew among the examples."""
    from minibert.training.statistics import drawn_anew

    task = TASKS[name]
    examples = [task.restored(example) for example in kept]
    return drawn_anew(lambda at: task.score([answers[i] for i in at], [examples[i] for i in at]), len(kept), draws=100)


def by_kind(shown: Sequence[FinetuneRun]) -> set[str]:
    """For data with marked kinds: how often each start is right on each. Returns the kinds."""
    shares: dict[str, dict[str, list[float]]] = {}
    names = names_of(shown)
    for one in shown:
        kinds: dict[str, list[float]] = {}
        told = zip(one.details["dev_examples"], one.last_eval["details"]["predictions"], strict=True)
        for example, prediction in told:
            if kind := example["extra"].get("kind"):
                kinds.setdefault(kind, []).append(prediction["grade"])
        for kind, grades in kinds.items():
            shares.setdefault(one.start, {}).setdefault(kind, []).append(statistics.fmean(grades))
    if not shares:
        return set()
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
        {_("start"): names[start], _("kind"): kind, _("right"): statistics.fmean(values)}
        for start, kinds in drawn.items()
        for kind, values in kinds.items()
    ]
    alt = _("How much is right, by kind of example. {rows}.").format(
        rows=_("; ").join(f"{r[_('start')]}{_(', ')}{r[_('kind')]}{_(': ')}{r[_('right')]:.0%}" for r in rows)
    )
    best = max(rows, key=lambda row: row[_("right")])
    worst = min((row for row in rows if row[_("start")] == best[_("start")]), key=lambda row: row[_("right")])
    title = _("{start}: {best} {p:.0%}, {worst} {q:.0%}").format(
        start=best[_("start")], best=best[_("kind")], p=best[_("right")], worst=worst[_("kind")], q=worst[_("right")]
    )
    title = title[:1].upper() + title[1:]
    figure(partial(right_by_kind, drawn, names, _("share right"), title), alt, key="kinds", data=rows)
    return {kind for kinds in shares.values() for kind in kinds}


# --- afterwards -------------------------------------------------------------------------------------------------------


def take_away(one: FinetuneRun) -> None:
    """The model as a file, and the two commands to serve it over HTTP."""
    if not one.run.files:
        return
    download(one)
    st.markdown(_("Two commands, and it answers over HTTP:"))
    st.code("unzip my-model.zip -d my-model\npython -m minibert serve --model my-model", "bash")
    st.markdown(_("Ask it from another terminal, or from any program:"))
    st.code(curl(one.view.task, own_input(one.task), one.settings.get("metadata", ())), "bash", wrap_lines=True)


def curl(task: Task, given: Any, metadata: Sequence[str] = ()) -> str:
    """The curl command that queries the service: with the user's own input if short, else an example. metadata: the
    columns that this model reads; the service refuses others."""
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if name in task.given_names(metadata)}
    if given is None or len(json.dumps(given, ensure_ascii=False)) > LONGEST_COMMAND:
        given = task.example_input
    body = json.dumps({"inputs": [given]}, ensure_ascii=False)
    return f"curl http://127.0.0.1:8080/predict -d {shlex.quote(body)}"
