"""Few-shot training: a head, PET, P-tuning and VAT on the same labelled reviews, compared over seeds."""

import time

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.few_labels.subject import PREFIX, Inputs, label_names, reviews
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.runs import manager, own_runs, show_refusal, submit, weights_to_begin_with
from ui.text import literal, visible
from ui.translations import _

METHODS = ("head", "pet", "p-tuning", "vat")
PROMPT = {
    "en": "{text} [unused1] [unused2] [unused3] [unused4] [MASK] .",
    "zh": "{text}[unused1][unused2][unused3][unused4][MASK]。",
}
STEPS = {"head": 60, "pet": 40, "p-tuning": 60, "vat": 40}
BATCH = 8


def names() -> dict[str, str]:
    return {"head": _("a new layer"), "pet": "PET", "p-tuning": "P-tuning", "vat": _("a new layer + VAT")}


def show(lesson: Lesson, inputs: Inputs) -> None:
    manager().warm_up()
    lesson.show("Train with few", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        who = choice("who", _("Who learns"), {"all": _("All four"), **names()}, box=220)
        labels = st.select_slider(_("Labelled reviews"), (8, 16, 32, 100), value=32, key="few-count", width=220)
        seeds = st.segmented_control(_("Seeds"), (1, 2, 3), default=1, key="few-seeds", required=True)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-few"):
            stamp = time.time_ns()
            for seed in range(int(seeds)):
                for method in METHODS if who == "all" else (who,):
                    begin(inputs, method, int(labels), seed, stamp)
    show_refusal()
    runs = [run for run in own_runs(f"{PREFIX}-learn") if run.kind.endswith(f"-{inputs.language}")]
    newest = runs[0].kind.split("/")[1] if runs else None
    runs = [run for run in runs if run.kind.split("/")[1] == newest][::-1]
    hint = _("**No run yet.** Press *Train*: all learn from the same few reviews, drawn anew for each seed.")
    follow_runs(runs, draw, hint, message=[inputs.text])
    lesson.show("What each of them does")


def begin(inputs: Inputs, method: str, count: int, seed: int, stamp: int) -> None:
    from dataclasses import replace

    from minibert.experiments.few_labels import few
    from minibert.finetune.unlabelled import Unlabelled

    pool = reviews(inputs.language, "train")
    train = few(pool, count, seed)
    settings, task = settings_of(inputs, method, count, seed)
    mine = {id(one) for one in train.examples}
    rest = [replace(one, label=None) for one in pool.examples if id(one) not in mine]
    more = {"unlabelled": Unlabelled(rest)} if method == "vat" else {}
    title = _("{method}, {n} labels, seed {seed}").format(method=names()[method], n=count, seed=seed)
    submit(
        "minibert.finetune.run:finetune",
        weights_to_begin_with(CHECKPOINTS / inputs.model),
        task,
        train,
        reviews(inputs.language, "dev"),
        settings,
        probe_inputs=[inputs.text],
        title=title,
        kind=f"{PREFIX}-learn/{stamp}/{method}-{seed}-{inputs.language}",
        **more,
    )


def settings_of(inputs: Inputs, method: str, count: int, seed: int):
    """(fine-tuning settings, task). Only PET uses the user's own pattern and words."""
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    words = {label: list(some) for label, some in inputs.words}
    more = {
        "head": {},
        "pet": {"pattern": inputs.pattern, "words": words, "mlm_weight": 1e-4},
        "p-tuning": {
            "pattern": PROMPT[inputs.language],
            "words": words,
            "prompt": "lstm",
            "freeze": "all",
            "dropout": 0.0,
        },
        "vat": {"vat_weight": 1.0, "beside_size": 8},
    }[method]
    rate = {"head": 1e-4, "pet": 3e-5, "p-tuning": 5e-3, "vat": 1e-4}[method]
    settings = FinetuneSettings(
        epochs=max(1, round(STEPS[method] / -(-count // BATCH))),
        batch_size=BATCH,
        seed=seed,
        max_length=64,
        optimization=Optimization(learning_rate=rate),
        evaluations_per_epoch=1,
        dev_sample=40,
        **more,
    )
    return settings, "cloze" if "pattern" in more else "classification"


def draw(runs: list) -> None:
    """Each method's current accuracy, one mark per seed, and its prediction on the user's text."""
    from plots.few_labels import SeedScores, accuracies

    accuracies_of: dict[str, list[float]] = {}
    for run in runs:
        measured = run.latest("eval")
        if measured:
            accuracies_of.setdefault(method_of(run), []).append(measured["metrics"]["accuracy"])
    if not accuracies_of:
        st.caption(_("The first figures stand here in some seconds."))
        return
    called = names()
    rows = [
        SeedScores(called[method], tuple(accuracies_of[method]), method != "head")
        for method in METHODS
        if method in accuracies_of
    ]
    means = _("; ").join(f"{row.name} {sum(row.values) / len(row.values):.1%}" for row in rows)
    title = _("Right in reviews that none has seen: {told}").format(told=means)
    figure(
        accuracies(rows, title, _("accuracy"), _("half: guessing")),
        _("{title}. A mark is a seed; on the way on 40 reviews, at the end on all.").format(title=title),
        "few-trained",
        data=[{_("who"): row.name, _("accuracy"): value} for row in rows for value in row.values],
    )
    lines = []
    for run in runs:
        said = run.latest("sample")
        answer = said["answers"][0] if said and said["answers"] else None
        if answer and "label" in answer:
            label, p = answer["label"], answer["probabilities"][answer["label"]]
            text = literal(visible(answer["text"], spaces=False))
            lines.append(f"- {literal(run.title)}{_(': ')}**{label_names()[label]}** {p:.0%} – {text}")
    if lines:
        st.markdown("\n".join(lines))


def method_of(run) -> str:
    return run.kind.split("/")[2].rsplit("-", 2)[0]
