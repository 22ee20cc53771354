"""The three ways of training: what is known of each task during a run."""

from functools import partial

import streamlit as st

from sections.ernie2.stages import Inputs, regimes, tasks
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.live_runs import follow_runs, newest_of_each
from ui.runs import evals, manager, show_refusal, submit
from ui.source import show_source
from ui.translations import _

KIND = "what_to_hide-ernie2"  # the `kind` of its runs


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.continual_tasks import stages

    manager().warm_up()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        regime = choice("regime", _("What is trained"), {"all": _("all three"), **regimes()}, box=270)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-ernie2"):
            begin(tuple(regimes()) if regime == "all" else (regime,), inputs.steps)
    show_refusal()
    hint = _("**No run yet.** Press *Train* and watch what becomes of the first task.")
    follow_runs(newest_of_each(KIND, regimes()), draw, hint, speed=_(" · step {step:,}").format_map)
    lesson.show("Three ways", title=False)
    lesson.show("What is forgotten")
    show_source(stages, label=_("The three ways of training"))


def begin(names: tuple[str, ...], steps: int) -> None:
    from minibert.toy.continual import ContinualSettings

    for name in names:
        settings = ContinualSettings(name, steps, asked=120, evaluate_every=steps // 20)
        submit(
            "minibert.toy.continual:train_continually",
            settings,
            title=_("ERNIE 2.0, {regime}").format(regime=regimes()[name]),
            kind=f"{KIND}/{name}",
        )


def draw(runs: list) -> None:
    """Every task's accuracy by step, one panel per regime."""
    from plots.what_to_hide import learned

    marks, plans = {}, {}
    for run in runs:
        started, points = run.latest("started"), evals(run)
        if started and points:
            title = regimes()[run.kind.rpartition("/")[2]]
            plans[title] = started["details"]["plan"]
            marks[title] = {task: [(step, metrics[task]) for step, metrics in points] for task in tasks()}
    if not marks:
        return
    listed = _("; ").join(
        f"{title}{_(': ')}{_(', ').join(f'{tasks()[task]} {points[-1][1]:.0%}' for task, points in lines.items())}"
        for title, lines in marks.items()
    )
    figure(
        partial(learned, marks, plans, tasks(), _("step")),
        _("Accuracy on each task over the steps. Last: {told}.").format(told=listed),
        "ernie2-learned",
        data=[
            {_("way"): title, _("task"): tasks()[task], _("step"): step, _("right"): f"{share:.1%}"}
            for title, lines in marks.items()
            for task, points in lines.items()
            for step, share in points
        ],
        wide=True,
    )
