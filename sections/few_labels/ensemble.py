"""Several patterns: one model each, their averaged predictions as soft labels, and a classifier trained on these."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.few_labels.subject import PATTERNS, PREFIX, Inputs, label_names, reviews
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.runs import own_runs, show_refusal, submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal
from ui.translations import _

LABELS, TEXTS = 32, 150


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.few_labels.ensemble import mean_probabilities, soften

    lesson.show("Several patterns", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        generations = st.segmented_control(
            _("Generations"),
            (1, 2),
            default=1,
            key="generations",
            required=True,
            format_func=lambda n: {1: "1 (PET)", 2: "2 (iPET)"}[n],
        )
        if st.button(_("Train them"), type="primary", icon=":material/play_arrow:", key="train-ensemble"):
            begin(inputs, int(generations))
    show_refusal()
    runs = [run for run in own_runs(f"{PREFIX}-ensemble") if run.kind.endswith(inputs.language)][:1]
    hint = _("**No run yet.** {n} labelled reviews, three patterns, {m} reviews without a label.")
    follow_runs(runs, draw, hint.format(n=LABELS, m=TEXTS))
    show_source(mean_probabilities)
    show_source(soften)


def begin(inputs: Inputs, generations: int) -> None:
    from dataclasses import replace

    from minibert.experiments.few_labels import few
    from minibert.few_labels.ensemble import EnsembleSettings
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    pool = reviews(inputs.language, "train")
    train = few(pool, LABELS, 0)
    mine = {id(one) for one in train.examples}
    texts = [replace(one, label=None) for one in pool.examples if id(one) not in mine][:TEXTS]
    base = {"batch_size": 8, "max_length": 64, "evaluations_per_epoch": 1, "dev_sample": 40}
    settings = EnsembleSettings(
        tuple(dict.fromkeys((inputs.pattern, *PATTERNS[inputs.language])))[:3],
        FinetuneSettings(
            **base,
            words={label: list(some) for label, some in inputs.words},
            epochs=5,
            optimization=Optimization(learning_rate=3e-5),
        ),
        FinetuneSettings(**base, epochs=15, beside_size=16, optimization=Optimization(learning_rate=1e-4)),
        generations=generations,
    )
    submit(
        "minibert.few_labels.ensemble:ensemble",
        weights_to_begin_with(CHECKPOINTS / inputs.model),
        train,
        reviews(inputs.language, "dev"),
        texts,
        settings,
        probe_inputs=[inputs.text],
        title=_("{n} patterns, {g} generations").format(n=len(settings.patterns), g=generations),
        kind=f"{PREFIX}-ensemble/{inputs.language}",
    )


def draw(runs: list) -> None:
    """One row per model, the classifier last."""
    for run in runs:
        rows = [
            {
                _("who"): literal(event["pattern"]),
                _("generation"): event["generation"],
                _("labels"): event["labels"],
                _("accuracy"): f"{event['metrics']['accuracy']:.1%}",
                _("your text"): said(event["answers"]),
            }
            for event in run.events()
            if event["event"] == "member"
        ]
        if measured := run.latest("eval"):
            sample = run.latest("sample")
            rows.append(
                {
                    _("who"): _("the classifier"),
                    _("generation"): None,
                    _("labels"): LABELS,
                    _("accuracy"): f"{measured['metrics']['accuracy']:.1%}",
                    _("your text"): said(sample["answers"] if sample else []),
                }
            )
        if rows:
            st.table(rows)


def said(answers: list[dict]) -> str:
    if not answers or "label" not in answers[0]:
        return "–"
    label = answers[0]["label"]
    return f"{label_names()[label]} {answers[0]['probabilities'][label]:.0%}"
