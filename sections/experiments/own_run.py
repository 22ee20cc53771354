"""One arm trained live on the toy world, and measured like the recorded ones."""

import streamlit as st

from minibert.experiments.catalogue import EXPERIMENTS, Arm, Scale
from sections.experiments.subject import KIND, SMALL, Inputs, metric_names, paper_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.runs import live, manager, own_runs, show_refusal, state_in_words, state_rows, submit
from ui.translations import _

CURVES = 6  # most runs drawn together
TOLD = ("determined", "meant")  # metrics comparable across pre-training objectives


def show(lesson: Lesson, inputs: Inputs) -> None:
    manager().warm_up()
    _run_one(inputs.name)
    lesson.show("Run a small one now", level=3)


@st.fragment
def _run_one(name: str) -> None:
    arms = {arm: title for arm, title in paper_of(name)["arms"].items() if arm in EXPERIMENTS[SMALL].arms}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = st.selectbox(_("Arm"), list(arms), format_func=arms.get, key=f"arm-{name}", width=380)
        seed = st.number_input(_("Seed"), 0, 99, 3, key="small-seed", width=140)
        if st.button(_("Pre-train it"), type="primary", icon=":material/play_arrow:", key="run-small"):
            title = f"{arms[picked]} · " + _("seed {n}").format(n=seed)
            submit("minibert.experiments.toy_run:small_run", picked, int(seed), title=title, kind=KIND)
    show_refusal()
    runs = own_runs(KIND)[:CURVES]
    if not runs:
        st.markdown(_("No run yet: the curve begins a few seconds after the click."))
        return
    live(tuple(run.id for run in reversed(runs)), draw_runs)


def draw_runs(runs: list) -> None:
    from plots.experiments import loss_curves

    titles = {run.id: f"{number} · {run.title}" for number, run in enumerate(runs, 1)}
    state_rows([run for run in runs if not run.over or run.error], _speed, title=lambda run: titles[run.id])
    panels: dict[str, dict[str, list]] = {}
    rows, every_arm = [], EXPERIMENTS[SMALL].arms
    for run in runs:
        begun, done, points = run.latest("started"), run.latest("eval"), pretraining_curve(run)
        arm = every_arm.get(begun["settings"]["arm"]) if begun else None
        if arm and points:
            panels.setdefault(predicted(arm), {})[titles[run.id]] = points
        row = {_("run"): titles[run.id], _("state"): state_in_words(run)}
        row[_("steps")] = f"{points[-1][0]:,}" if points else "–"
        for metric in TOLD:
            row[metric_names()[metric]] = f"{100 * done['metrics'][metric]:.1f}" if done else "–"
        rows.append(row)
    if panels:
        newest = [(title, points[-1][1]) for curves in panels.values() for title, points in curves.items()]
        now = _("; ").join(f"{title}{_(': ')}{loss:.2f}" for title, loss in newest)
        if len(panels) > 1:
            title = _("The objectives differ: compare the shapes of these curves, not the losses")
        else:
            title = _("Loss falls from {first:.1f} to {last:.1f}").format(
                first=max(points[0][1] for points in next(iter(panels.values())).values()),
                last=min(points[-1][1] for points in next(iter(panels.values())).values()),
            )
        fig = loss_curves(panels, (_("step"), _("loss, nats a predicted token")), title)
        figure(fig, _("Training loss over steps, a line a run. Now: {now}.").format(now=now), key="loss", data=rows)
    st.table(rows)


def predicted(arm: Arm) -> str:
    """What the loss is computed on: only losses of the same objective are comparable."""
    made = arm.pretraining
    if made.objective == "left-to-right":
        return _("the next word")
    if made.input_format != Scale.input_format:
        return _("hidden words of two half stories")
    mask, random, same = (round(100 * share) for share in made.split)
    return _("hidden words, {mask}/{same}/{random}").format(mask=mask, same=same, random=random)


def pretraining_curve(run) -> list[tuple[int, float]]:
    """(step, MLM or next-token loss) of the pre-training stage."""
    points = []
    for event in run.events():
        if event["event"] == "stage" and event["stage"] != "pretrain":
            break
        if event["event"] == "step":
            points.append((event["step"], event["parts"].get("mlm_loss", event["loss"])))
    return points


def _speed(step: dict) -> str:
    return _(" · {speed:,.0f} tokens/s").format(speed=step["tokens_per_second"])
