"""The user's own runs: some cells, some seeds."""

import statistics
import time
from collections.abc import Callable, Sequence

import streamlit as st

from minibert.experiments.comparisons import EPOCHS, cell
from sections.stability.subject import (
    KIND,
    Inputs,
    correction_names,
    draw_grid,
    name_of,
    newest_runs,
    rate_in_words,
    rates,
    scores_of_runs,
)
from ui.lesson import LESSONS, Lesson
from ui.recorded import comparison, start_folder
from ui.runs import live, manager, show_refusal, state_rows, stop, submit, weights_to_begin_with
from ui.translations import _, ngettext

MOST_RUNS = 12  # per click: the queue's limit per user
SECONDS_AT_MOST = 300


def show(lesson: Lesson, inputs: Inputs) -> None:
    manager().warm_up()
    _run_grid(inputs.chance)
    lesson.show("Your own grid")


def several(key: str, label: str, options: Sequence, default: Sequence, words: Callable) -> list:
    return st.pills(label, options, selection_mode="multi", default=default, format_func=words, key=key)


@st.fragment
def _run_grid(chance: float | None) -> None:
    columns = st.columns(3, gap="medium")
    with columns[0]:
        epochs = several("epochs", _("Epochs"), EPOCHS, EPOCHS[:1], str)
        seeds = st.slider(_("Seeds"), 1, 5, 2, key="seeds")
    with columns[1]:
        chosen_rates = several("rates", _("Learning rate"), rates(), rates()[1:2], rate_in_words)
    with columns[2]:
        names = correction_names()
        corrections = several("corrections", _("Bias correction"), list(names), list(names), names.get)
    wanted = [(e, r, c, s) for s in range(seeds) for e in epochs for r in chosen_rates for c in corrections]
    with st.container(horizontal=True, vertical_alignment="center"):
        label = ngettext("Start {n} run", "Start {n} runs", len(wanted)).format(n=len(wanted))
        ready = 0 < len(wanted) <= MOST_RUNS
        if st.button(label, type="primary", icon=":material/play_arrow:", key="start", disabled=not ready):
            start(wanted)
        if len(wanted) > MOST_RUNS:
            st.markdown(_("At most {n} runs at once: choose fewer cells or seeds.").format(n=MOST_RUNS))
    show_refusal()
    newest = newest_runs()
    if not newest:
        st.markdown(_("No run yet: the first dot appears some seconds after the click."))
        return
    live(tuple(run.id for run in reversed(newest)), lambda shown: draw_runs(shown, chance))


def start(wanted: list[tuple[int, float, bool, int]]) -> None:
    from minibert.experiments.compare import read_data, settings_of

    made = comparison(KIND)
    train, dev = read_data(made, LESSONS / "data")
    weights, kind = weights_to_begin_with(start_folder()), f"{KIND}/{time.time_ns()}"
    for epochs, rate, corrected, seed in wanted:
        values = made.values(cell(epochs, rate, corrected))
        settings = settings_of(values, seed, max_seconds=SECONDS_AT_MOST)
        title = f"{name_of(epochs, rate, corrected)} · " + _("seed {n}").format(n=seed)
        run = submit("minibert.finetune.run:finetune", weights, made.task, train, dev, settings, title=title, kind=kind)
        if run is None:
            return


def draw_runs(runs: list, chance: float | None) -> None:
    going = [run for run in runs if not run.over or run.error]
    ended = sum(run.state == "finished" for run in runs)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            statistics.fmean(run.progress for run in runs),
            text=_("{done} of {n} runs finished").format(done=ended, n=len(runs)),
        )
        if any(not run.over for run in runs):
            st.button(_("Stop all"), key="stop-all", icon=":material/stop:", on_click=stop_all, args=(runs,))
    scores = scores_of_runs(runs)
    if scores:
        draw_grid(scores, chance, "live")
    state_rows(going[:4], lambda step: _(" · loss {loss:.3f}").format(loss=step["loss"]))


def stop_all(runs: list) -> None:
    for run in runs:
        if not run.over:
            stop(run)
