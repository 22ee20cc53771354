"""Two arms trained live, side by side."""

import statistics
import time

import streamlit as st

from minibert.experiments.claims import values
from minibert.experiments.comparisons import Comparison
from sections.features.subject import KIND, Inputs, arm_names, arm_of, data_of, metric_of, newest_runs
from ui.figures import figure
from ui.lesson import Lesson
from ui.recorded import comparison, recorded, start_folder
from ui.runs import live, manager, show_refusal, state_rows, submit, weights_to_begin_with
from ui.translations import _

SECONDS_AT_MOST = 300


def show(lesson: Lesson, inputs: Inputs) -> None:
    manager().warm_up()
    _run_two(inputs.name)
    lesson.show("Run two of them now")


@st.fragment
def _run_two(name: str) -> None:
    made, names = comparison(name), arm_names(name)
    arms = list(names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = st.selectbox(_("First arm"), arms, 0, format_func=names.get, key=f"first-{name}", width=330)
        second = st.selectbox(_("Second arm"), arms, 3, format_func=names.get, key=f"second-{name}", width=330)
        seed = st.number_input(_("Seed"), 0, 99, 7, key="seed", width=120)
        if st.button(_("Run both"), type="primary", icon=":material/play_arrow:", key="run-two"):
            start_runs(made, list(dict.fromkeys((first, second))), int(seed))
    show_refusal()
    newest = newest_runs(name)
    if not newest:
        st.markdown(_("No run yet: the bars appear a few seconds after the click."))
        return
    live(tuple(run.id for run in reversed(newest)), lambda runs: draw_live(name, runs), rows_of_runs)


def start_runs(made: Comparison, arms: list[str], seed: int) -> None:
    from minibert.experiments.compare import settings_of

    train, dev = data_of(made.name)
    weights, kind = weights_to_begin_with(start_folder()), f"{KIND}/{made.name}/{time.time_ns()}"
    for arm in arms:
        settings = settings_of(made.values(arm), seed, max_seconds=SECONDS_AT_MOST)
        title = f"{arm_names(made.name)[arm]} · " + _("seed {n}").format(n=seed)
        submit("minibert.finetune.run:finetune", weights, made.task, train, dev, settings, title=title, kind=kind)


def rows_of_runs(runs: list) -> None:
    state_rows(runs, lambda step: _(" · loss {loss:.3f}").format(loss=step["loss"]))


def draw_live(name: str, runs: list) -> None:
    from plots.features import RunScore, bars

    made = comparison(name)
    key, title = metric_of(made)
    past = values(recorded(name), key)
    rows, table = [], []
    for run in runs:
        begun, measured, step = run.latest("started"), run.latest("eval"), run.latest("step")
        arm = arm_of(made, begun["settings"]) if begun else None
        score = 100 * measured["metrics"][key] if measured else None
        rows.append(RunScore(run.title, score, tuple(past.get(arm, {}).values())))
        table.append(
            {
                _("run"): run.title,
                title: "–" if score is None else f"{score:.1f}",
                _("recorded, mean"): f"{statistics.fmean(past[arm].values()):.1f}" if arm in past else "–",
                _("seconds of training"): f"{step['seconds']:.1f}" if step else "–",
            }
        )
    if any(row.score is not None for row in rows):
        now = _("; ").join(f"{row[_('run')]}{_(': ')}{row[title]}" for row in table)
        fig = bars(rows, title, (_("this run, now"), _("recorded runs, other seeds")))
        figure(fig, _("{metric} of each run, now. {now}.").format(metric=title, now=now), key="bars", data=table)
        st.table(table)
