"""Training loss and score by epoch, over the faint lines of recorded runs; and both starts compared."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from minibert.experiments.results import read_records
from minibert.text.json_values import json_value
from sections.output_layer.subject import Inputs
from ui.figures import figure
from ui.finetune_runs import FinetuneRun, names_of
from ui.finetune_settings import start_names, suited
from ui.lesson import LESSONS
from ui.model_cache import outline_of
from ui.predict import predict
from ui.task_data import ChosenData, shipped_sets
from ui.tasks import VIEWS
from ui.tasks.base import TaskView
from ui.text import literal
from ui.translations import _, ngettext

RECORDED = LESSONS / "results" / "tasks.jsonl"  # bench/nine_tasks.py
LEADS = (0, 5, 20)  # points; bounds of the options
LITTLE = 0.05  # a lead this small may be chance in the choice of examples
REQUIRED = {"set", "arm", "seed", "values", "curve", "loss", "score"}


# --- recorded runs ----------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=4)
def _records(changed: int) -> list[dict]:
    return read_records(RECORDED, REQUIRED)


def recorded_for(data: ChosenData, model: str) -> list[dict]:
    """The recorded runs on these data with the page's settings, from this model and from random weights of its size."""
    if not RECORDED.exists():
        return []
    values = json_value(json.dumps(asdict(suited(data, outline_of(model).config))))
    arms = {model} | ({"random"} if model == "minilm-en" else set())
    everything = _records(RECORDED.stat().st_mtime_ns)
    return [r for r in everything if r["set"] == data.key and r["arm"] in arms and r["values"] == values]


def leads(model: str) -> dict[str, tuple[float, float]]:
    """Set → recorded mean scores of this model and of random weights of its size; the largest lead first."""
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for record in _records(RECORDED.stat().st_mtime_ns) if RECORDED.exists() else ():
        scores.setdefault((record["set"], json.dumps(record["values"])), {}).setdefault(record["arm"], []).append(
            record["score"]
        )
    both = {
        name: (statistics.fmean(by_arm[model]), statistics.fmean(by_arm["random"]))
        for (name, _values), by_arm in scores.items()
        if model in by_arm and "random" in by_arm and name in shipped_sets()
    }
    return dict(sorted(both.items(), key=lambda one: one[1][1] - one[1][0]))


def _as_curves(records: Sequence[Mapping]) -> list:
    from plots.finetuning import Curve

    return [
        Curve(
            "random" if record["arm"] == "random" else "pretrained",
            record["seed"],
            [tuple(point) for point in record["loss"]],
            [tuple(point) for point in record["curve"]],
        )
        for record in records
    ]


# --- drawing ----------------------------------------------------------------------------------------------------------


def scale_of(view: TaskView, dev_examples: Sequence[dict]):
    """The scale of the task's metric, with the score of a trivial baseline."""
    from plots.finetuning import Scale

    return Scale(view.metric_title(), view.task.trivial(dev_examples), view.is_share)


def finding(view: TaskView, scores: Mapping[str, Sequence[float]], names: Mapping[str, str]) -> str:
    """Scores by start, as a title: "From the checkpoint 98.3 %, from random weights 50.0 %"."""
    parts = [f"{names[start]} {view.number(statistics.fmean(values))}" for start, values in scores.items() if values]
    words = _(", ").join(parts)
    return words[:1].upper() + words[1:]


def _by_start(pairs) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"pretrained": [], "other": [], "random": []}
    for start, score in pairs:
        found[start].append(score)
    return found


def show(shown: Sequence[FinetuneRun], subject: Inputs) -> None:
    """One line per run, over the recorded runs on these data, if any."""
    from plots.finetuning import Curve

    first = shown[0]
    view, metric = first.view, first.details["metric"]
    scale = scale_of(view, first.details["dev_examples"])
    drawn = [Curve.of(one.start, one.seed, one.details["steps_per_epoch"], metric, one.events) for one in shown]
    now = _("; ").join(f"{one.name}{_(': ')}{view.number(one.score)}" for one in shown)
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

    same = subject.data is not None and first.details["labels"] == subject.task.labels(subject.data.train)
    records = recorded_for(subject.data, subject.model) if same else []
    names = names_of(shown)
    title = finding(view, _by_start((one.start, one.score) for one in shown), names)
    _draw(view, drawn, scale, alt, rows, records, title, names)
    kept = [
        _("{run}: epoch {epoch:g} of {n:g}").format(run=one.name, epoch=one.epoch(one.last_eval), n=one.trained)
        for one in shown
        if one.settings.get("patience") and one.run.state == "finished"
    ]
    if kept:
        st.caption(_("Kept: {listed}.").format(listed=literal(_("; ").join(kept))))


def before(data: ChosenData, model: str) -> None:
    """Before any run, the recorded runs' curves, once one has guessed; without any, empty axes with the baseline."""
    records = recorded_for(data, model)
    if records and not _guessed(data, model, records):
        return
    scale = scale_of(data.view, [vars(example) for example in data.dev.examples])
    alt = _("Training loss and {metric} on the dev set will be drawn here.").format(metric=scale.title)
    title = ""
    if records:
        scores = _by_start((curve.start, curve.score[-1][1]) for curve in _as_curves(records))
        reached = finding(data.view, scores, start_names())
        title = _("Recorded: {reached}. Yours?").format(reached=reached[:1].lower() + reached[1:])
        alt += " " + title
    _draw(data.view, [], scale, alt, None, records, title, start_names())
    if records:
        _say_where_it_shows(data, model)


def _say_where_it_shows(data: ChosenData, model: str) -> None:
    """If recorded runs gain little from pre-training: say so, and offer the set with the largest gain."""
    known = leads(model)
    reached = known.get(data.key)
    if reached is None or reached[0] - reached[1] > LITTLE:
        return
    best, scores = next(iter(known.items()))
    shown = shipped_sets()[best]
    view = VIEWS[shown.task]
    with st.container(horizontal=True, vertical_alignment="center", key="little"):
        words = _(
            "So few examples teach a model of this size little of this task, whatever it starts from. Pre-training "
            "shows most in *{title}*: {ahead} against {behind}."
        )
        ahead, behind = map(view.number, scores)
        st.markdown(words.format(title=shown.title, ahead=ahead, behind=behind))
        st.button(_("See it there"), key="see-it", icon=":material/arrow_forward:", on_click=_go_to, args=(best,))


def _go_to(name: str) -> None:
    st.session_state.update({"task-guess": shipped_sets()[name].task, "data": name})


def _guessed(data: ChosenData, model: str, records: Sequence[dict]) -> bool:
    """Ask how far recorded runs from the checkpoint end above those from random weights; True if they may be shown."""
    reached = _by_start((curve.start, curve.score[-1][1]) for curve in _as_curves(records))
    if not (reached["pretrained"] and reached["random"]):
        return True
    ahead = 100 * (statistics.fmean(reached["pretrained"]) - statistics.fmean(reached["random"]))
    options = [
        _("it is not ahead"),
        *(_("by up to {n} points").format(n=n) for n in LEADS[1:]),
        _("by more than {n}").format(n=LEADS[-1]),
    ]
    question = _("How far will the checkpoint be ahead of random weights?")
    return predict("ahead", question, options, sum(ahead > lead for lead in LEADS), about=f"{data.key} {model}")


def _draw(
    view: TaskView,
    drawn: list,
    scale,
    alt: str,
    data: Callable[[], Any] | None,
    records: Sequence[dict],
    title: str,
    names: Mapping[str, str],
) -> None:
    from plots.finetuning import learning_curves

    floor = ""
    if scale.floor is not None:
        floor = _("Dashed: {what}, {floor}.").format(what=view.floor_title(), floor=view.number(scale.floor))
    seeds = len({record["seed"] for record in records})
    name = ngettext("recorded, {n} seed", "recorded, {n} seeds", seeds).format(n=seeds) if records else ""
    axes = (_("training loss"), _("epoch"))
    fig = learning_curves(drawn, names, scale, axes, recorded=_as_curves(records), recorded_name=name, finding=title)
    figure(fig, f"{alt} {floor}".strip(), key="curves", data=data)
    if floor:
        st.caption(floor)


def compare_starts(shown: Sequence[FinetuneRun]) -> None:
    """Both starts over all seeds: mean and spread of the final scores."""
    finals: dict[str, list[float]] = {}
    for one in shown:
        if one.run.state == "finished":
            finals.setdefault(one.start, []).append(one.score)
    if sum(map(len, finals.values())) < 2:
        return
    from plots.finetuning import comparison

    view = shown[0].view
    scale, names = scale_of(view, shown[0].details["dev_examples"]), names_of(shown)
    rows = [
        {
            _("start"): names[start],
            _("runs"): len(values),
            _("mean"): view.number(statistics.fmean(values)),
            _("standard deviation"): view.number(statistics.stdev(values)) if len(values) > 1 else "–",
        }
        for start, values in finals.items()
    ]
    summary = _("; ").join(f"{row[_('start')]}{_(': ')}{row[_('mean')]}" for row in rows)
    alt = _("Final {metric} of every run, with mean and standard deviation by start. {summary}.").format(
        metric=scale.title, summary=summary
    )
    st.markdown("### " + _("The starts beside each other"))
    figure(comparison(finals, names, scale, finding(view, finals, names)), alt, key="comparison", data=rows)
