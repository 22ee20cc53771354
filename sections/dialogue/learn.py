"""DIET trained live, with and without its parts, beside BERT with a joint head; predictions on the user's sentence."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.dialogue.subject import PREFIX, Inputs
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.runs import by_title, manager, own_runs, show_refusal, submit, weights_to_begin_with
from ui.tasks.entities import entities_words
from ui.text import literal, visible
from ui.translations import _

ENCODERS = {"en": "mini-en", "zh": "mini-zh"}
ARMS = {  # arguments of DietSettings; None: BERT with a joint head
    "both": {"features": "both"},
    "sparse": {"features": "sparse"},
    "dense": {"features": "dense"},
    "both-no-mask": {"features": "both", "mask_loss": False},
    "joint": None,
}
SETS = {"two": ("both", "joint"), "features": ("both", "sparse", "dense"), "mask": ("both", "both-no-mask")}
JOINT_EPOCHS, JOINT_RATE, JOINT_BATCH = 8, 1e-3, 16  # as on *One output layer*
MOST_RUNS, MOST_SEEDS = 6, 3


def names() -> dict[str, str]:
    return {
        "both": _("DIET"),
        "sparse": _("DIET, letters and words alone"),
        "dense": _("DIET, frozen vectors alone"),
        "both-no-mask": _("DIET, no hidden words"),
        "joint": _("BERT with a joint head"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.diet.model import Diet
    from ui.source import show_source
    from ui.task_data import choose_data

    manager().warm_up()
    lesson.show("Train", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        data = choose_data("intent")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        learners = {
            "two": _("DIET and BERT"),
            "features": _("Which features"),
            "mask": _("With and without hidden words"),
            **names(),
        }
        who = choice("who", _("Who learns"), learners, box=300)
        epochs = st.slider(_("Epochs of DIET"), 10, 80, 30, 10, key="diet-epochs", width=200)
        seeds = st.slider(_("Seeds"), 1, MOST_SEEDS, 1, key="diet-seeds", width=120)
        pressed = st.button(
            _("Train"), type="primary", icon=":material/play_arrow:", key="train-diet", disabled=data is None
        )
    if pressed and data is not None:
        for seed in range(seeds):
            for arm in SETS.get(who, (who,)):
                begin(arm, data, int(epochs), seed, inputs)
    show_refusal()
    runs = own_runs(f"{PREFIX}-learn")[MOST_RUNS - 1 :: -1]
    hint = _("**No run yet.** Press *Train*: both are done within a minute.")
    follow_runs(runs, draw, hint, message=[inputs.text] if inputs.answers else None)
    show_source(Diet, 'losses["', label=_("The network and its three losses"))


def begin(arm: str, data, epochs: int, seed: int, inputs: Inputs) -> None:
    from minibert.diet.run import DietSettings
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    start = weights_to_begin_with(CHECKPOINTS / ENCODERS.get(data.language, "mini-en"))
    probe_inputs = [inputs.text] if inputs.answers else []
    labels = {"title": f"{names()[arm]} · {data.name} · {seed + 1}", "kind": f"{PREFIX}-learn/{arm}"}
    if ARMS[arm] is None:
        settings = FinetuneSettings(
            epochs=JOINT_EPOCHS, batch_size=JOINT_BATCH, optimization=Optimization(learning_rate=JOINT_RATE), seed=seed
        )
        submit(
            "minibert.finetune.run:finetune",
            start,
            "intent",
            data.train,
            data.dev,
            settings,
            probe_inputs=probe_inputs,
            **labels,
        )
        return
    settings = DietSettings(**ARMS[arm], epochs=epochs, batch_first=16, batch_last=64, seed=seed)
    submit("minibert.diet.run:train_diet", settings, start, data.train, data.dev, probe_inputs=probe_inputs, **labels)


def points(events: list[dict], measure: str) -> list[tuple[float, float]]:
    """(seconds of training, value of the measure) at each evaluation."""
    seconds, found = 0.0, []
    for event in events:
        if event["event"] == "step":
            seconds = event["seconds"]
        elif event["event"] == "eval" and measure in event["metrics"]:
            found.append((seconds, event["metrics"][measure]))
    return found


def draw(runs: list) -> None:
    """Entity F1 and intent accuracy by seconds of training, and each run's prediction on the user's sentence."""
    from plots.dialogue import over_seconds

    for measure, title in (("intent_accuracy", _("right intents")), ("entity_f1", _("entity F1"))):
        curves = by_title(runs, lambda run, measure=measure: points(run.events(), measure))
        if not curves:
            return
        ends = _("; ").join(f"{name}{_(': ')}{found[-1][1]:.1%}" for name, found in curves.items())
        summary = _("{measure}: {ends}").format(
            measure=title.capitalize(), ends=ends if len(curves) < 3 else _("{n} runs").format(n=len(curves))
        )
        figure(
            over_seconds(curves, (_("seconds of training"), title), summary),
            _("{measure} on the dev requests over the seconds of training. {ends}.").format(measure=title, ends=ends),
            f"over-seconds-{measure}",
            data=[
                {_("run"): name, _("seconds"): round(x, 1), title: round(y, 4)}
                for name, found in curves.items()
                for x, y in found
            ],
        )
    for run in runs:
        samples = [event["answers"][0] for event in run.events() if event["event"] == "sample" and event["answers"]]
        if samples and "intent" in samples[-1]:
            same = [one for one in samples if one.get("text") == samples[-1]["text"]]
            before, now = (
                f"{literal(one['intent'])} {one['probabilities'][one['intent']]:.0%} · {literal(entities_words(one))}"
                for one in (same[0], same[-1])
            )
            st.markdown(
                _("**{title}**, “{text}” – first: {before}  \nnow: {now}").format(
                    title=literal(run.title),
                    text=literal(visible(samples[-1]["text"], spaces=False)),
                    before=before,
                    now=now,
                )
            )
