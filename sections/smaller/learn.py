"""Teacher and student, live: the teacher trains first, then the student from it, beside a student without a teacher."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.smaller.subject import PREFIX, STUDENT, TEACHER, Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.runs import by_title, evals, manager, own_runs, show_refusal, submit, teachers, weights_to_begin_with
from ui.task_data import shipped
from ui.text import literal, one_by_one
from ui.translations import _

DATA = "reviews"
COPIES, RATE = 3, 0.2  # changed copies of each review, share of words changed
MAX_SECONDS = 900  # seconds, so that no run occupies a worker for ever


def loss_names() -> dict[str, str]:
    return {
        "soft": _("soft labels"),
        "labels": _("labels"),
        "hidden": _("hidden vectors"),
        "attention": _("attention scores"),
        "embeddings": _("embeddings"),
        "attention_relation": _("last attention (MiniLM)"),
        "value_relation": _("value relation (MiniLM)"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    manager().warm_up()
    lesson.show("Teacher and student", title=False)
    names = loss_names()
    chosen = st.pills(
        _("The student’s losses"),
        list(names),
        format_func=names.get,
        selection_mode="multi",
        default=["soft"],
        key="asked-losses",
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        temperature = st.slider(_("Temperature"), 1.0, 5.0, 1.0, 0.5, key="temperature", width=220)
        seed = st.number_input(_("Seed"), 0, 99, 0, key="smaller-seed", width=110)
    with st.container(horizontal=True, vertical_alignment="center"):
        look = {"type": "primary", "icon": ":material/play_arrow:", "disabled": not chosen}
        if st.button(_("Train both"), key="train-smaller", **look):
            begin_alone(int(seed), inputs)
            begin_taught(list(chosen), float(temperature), int(seed), inputs)
        if st.button(_("The taught one alone"), key="train-taught", disabled=not chosen):
            begin_taught(list(chosen), float(temperature), int(seed), inputs)
    show_refusal()
    hint = _("**No run yet.** Press *Train both*. The teacher itself learns first, a minute or two.")
    if teachers():
        hint = one_by_one(hint, _("It is kept: a student with the same seed does not wait for it again."))
    follow_runs(own_runs(PREFIX)[3::-1], draw, hint, speed=step_and_loss, message=inputs.watched)
    lesson.show("Why a teacher helps")


def step_and_loss(step: dict) -> str:
    return _(" · step {step:,} · loss {loss:.3f}").format(step=step["step"], loss=step["loss"])


def settings(seed: int, epochs: int, rate: float, **changes):
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    return FinetuneSettings(
        epochs=epochs,
        batch_size=32,
        optimization=Optimization(learning_rate=rate),
        pooling="mean",
        seed=seed,
        group_by_length=True,
        averaging=0.5,
        max_seconds=MAX_SECONDS,
        **changes,
    )


def weights_and_data(*models: str) -> tuple:
    """Arguments of a run on the course's reviews: the weights of each model, the task, training and dev data."""
    data = shipped(DATA)
    return (*(weights_to_begin_with(CHECKPOINTS / name) for name in models), data.task.name, data.train, data.dev)


def begin_alone(seed: int, inputs: Inputs) -> None:
    submit(
        "minibert.finetune.run:finetune",
        *weights_and_data(STUDENT),
        settings(seed, 2 * (1 + COPIES), 3e-4),
        probe_inputs=inputs.watched,
        title=_("student alone, seed {seed}").format(seed=seed),
        kind=f"{PREFIX}/alone",
    )


def begin_taught(chosen: list[str], temperature: float, seed: int, inputs: Inputs) -> None:
    """Besides the reviews, train on changed copies labelled only by the teacher: as many rows as without a teacher."""
    from minibert.finetune.augmentation import Augmentation
    from minibert.finetune.distillation import distillation_of

    student = settings(
        seed,
        2,
        3e-4,
        distillation=distillation_of(chosen, temperature),
        augmentation=Augmentation("drop", RATE, COPIES),
    )
    names = loss_names()
    submit(
        "minibert.distillation.run:distil",
        *weights_and_data(STUDENT, TEACHER),
        student,
        settings(seed, 3, 1.5e-4),
        probe_inputs=inputs.watched,
        title=_("taught: {losses}, seed {seed}").format(losses=_(", ").join(names[name] for name in chosen), seed=seed),
        kind=f"{PREFIX}/taught",
        cache=teachers(),
    )


def draw(runs: list) -> None:
    """Accuracy over the run, the teachers' as horizontal lines, and each model's prediction on the user's sentence."""
    from plots.smaller import students

    teachers = {}
    for run in runs:
        taught = run.latest("taught")
        if taught:
            score = taught["metrics"]["accuracy"]
            teachers[_("teacher {score:.0%}").format(score=score)] = score
    lines = by_title(runs, over_the_run)
    waiting = [run.latest("teaching") for run in runs if not run.latest("taught") and not run.over]
    if any(waiting):
        words = _("The teacher still learns; its loss is {loss:.2f}.")
        st.caption(words.format(loss=next(event["loss"] for event in waiting if event)))
    if lines:
        ends = {name: line[-1][1] for name, line in lines.items()}
        summary = _("; ").join(f"{name}{_(': ')}{value:.0%}" for name, value in ends.items())
        figure(
            students(lines, teachers, summary, (_("share of the run, %"), _("accuracy on the dev reviews, %"))),
            _("Accuracy of each student while it learns, their teachers’ as levels. Now {summary}. {teachers}").format(
                summary=summary, teachers=_("; ").join(teachers)
            ),
            "students",
            data=[
                {_("run"): name, _("share"): round(x, 3), _("accuracy"): round(y, 4)}
                for name, line in lines.items()
                for x, y in line
            ],
        )
    rows = [row for run in runs for row in answers_of(run)]
    if rows:
        st.markdown(_("**Your sentence, now:**"))
        st.table(rows)


def over_the_run(run) -> list[tuple[float, float]]:
    """(completed share of the run, accuracy)."""
    begun = run.latest("started")
    return [(step / begun["details"]["steps"], metrics["accuracy"]) for step, metrics in evals(run)] if begun else []


def answers_of(run) -> list[dict]:
    """The last predictions of a run's teacher and student."""
    rows = []
    for kind, who in (("teachersample", _("its teacher")), ("sample", "")):
        event = run.latest(kind)
        for answer in event["answers"][-1:] if event else ():
            if "probabilities" in answer:
                share = answer["probabilities"][answer["label"]]
                name = f"{literal(run.title)} · {who}" if who else literal(run.title)
                rows.append({_("who"): name, _("says"): literal(answer["label"]), _("sure"): f"{share:.0%}"})
    return rows
