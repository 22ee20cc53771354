"""ERNIE 2.0, tasks added one after the other: the training schedule, forgetting during a run, and the claim."""

from functools import partial

import streamlit as st

from minibert.experiments import claims
from sections.what_to_hide.subject import Inputs
from ui.claim import caption_records, mean_and_sd, recorded_or_hint, show_verdicts
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.live_runs import follow_runs, newest_of_each
from ui.runs import evals, manager, show_refusal, submit
from ui.source import show_source
from ui.translations import _

KIND = "what_to_hide-ernie2"  # the `kind` of its runs
EXPERIMENT = "ernie2"


def tasks() -> dict[str, str]:
    return {
        "words": _("phrases and names, hidden"),
        "order": _("order of three sentences"),
        "distance": _("distance of two sentences"),
        "relation": _("what joins two clauses"),
    }


def regimes() -> dict[str, str]:
    return {"continual": _("each new one with the old"), "one_by_one": _("one by one"), "together": _("all at once")}


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts import continual_tasks as ernie2
    from minibert.toy import continual

    manager().warm_up()
    lesson.show("One task after another", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        steps = st.slider(_("Steps"), 200, 1_200, 400, 200, key="ernie2-steps", width=200)
        regime = choice("regime", _("What is trained"), {"all": _("all three"), **regimes()}, box=270)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-ernie2"):
            begin(tuple(regimes()) if regime == "all" else (regime,), int(steps))
    show_refusal()
    trained_when(int(steps))
    hint = _("**No run yet.** Press *Train* and watch what becomes of the first task.")
    follow_runs(newest_of_each(KIND, regimes()), draw, hint, speed=_(" · step {step:,}").format_map)
    lesson.show("What is forgotten")
    claim()
    lesson.show("The fourth embedding")
    show_source(ernie2.TaskEmbeddings, "task =", label=_("The fourth in the sum; as a diff under *The diff*"))
    show_source(ernie2.task_tap, label=_("Each row’s own task"))
    show_source(ernie2.stages, label=_("The three ways of training"))
    show_source(continual, find="def words", label=_("The four questions: `{file}`").format(file="continual.py"))


def trained_when(steps: int) -> None:
    """The training schedule, one row per regime."""
    from minibert.relatives.parts.continual_tasks import stages
    from plots.what_to_hide import trained_when

    plans = {title: stages(name, list(tasks()), steps) for name, title in regimes().items()}
    listed = [
        {_("way"): title, _("stage"): number, _("task"): tasks()[task], _("steps"): count}
        for title, plan in plans.items()
        for number, stage in enumerate(plan, 1)
        for task, count in stage.items()
    ]
    alt = _(
        "Which task is trained when: all at once in one stage; one by one, a stage each; or each new one in a stage "
        "of its own, where the old ones go on with fewer steps. Every task has {n:,} steps in each way."
    ).format(n=steps // len(tasks()))
    figure(partial(trained_when, plans, tasks(), _("step")), alt, "ernie2-plan", data=listed, wide=True)


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
    listed = "; ".join(
        f"{title}: {', '.join(f'{tasks()[task]} {points[-1][1]:.0%}' for task, points in lines.items())}"
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


# --- the claim --------------------------------------------------------------------------------------------------------


def claim() -> None:
    if not (records := recorded_or_hint(EXPERIMENT)):
        return
    results = {words: claims.values(records, metric) for metric, words in {**tasks(), "mean": _("mean")}.items()}
    rows = [
        {_("way"): title, **{words: mean_and_sd(values.get(arm, {}).values()) for words, values in results.items()}}
        for arm, title in regimes().items()
    ]
    show_verdicts(claims.judged(EXPERIMENT, records), regimes())
    words = _(
        "Means over the seeds and one standard deviation, in percent, on {asked:,} questions of each task about "
        "stories that were not learned from. Every way reads the same batches in another order: {tokens:,} tokens in "
        "{steps:,} steps."
    )
    with st.expander(_("All that was measured")):
        st.table(rows)
        caption_records(records, words, asked=records[-1]["scale"]["asked"])
