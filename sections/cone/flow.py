"""A flow, trained live on a frozen encoder's vectors: likelihood, correlation, and the user's two sentences."""

import numpy as np
import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.cone.subject import PREFIX, Inputs, layer_names, to_fit
from ui.figures import figure
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.runs import by_title, evals, manager, own_runs, show_refusal, submit, weights_to_begin_with
from ui.samples import questions, similar_pairs
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

STARTS = {"en": "mini-en", "zh": "mini-zh"}


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.sentence_vectors.flow import Flow

    manager().warm_up()
    lesson.show("Flow", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        steps = st.slider(_("Steps"), 40, 400, 200, 40, key="flow-steps", width=220)
        seeds = st.slider(_("Runs, each with its own seed"), 1, 3, 1, key="flow-seeds", width=220)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-flow"):
            for seed in range(int(seeds)):
                begin(int(steps), seed, inputs)
    show_refusal()
    runs = [run for run in own_runs(f"{PREFIX}-flow") if run.kind.endswith(inputs.language)][3::-1]
    hint = _("**No run yet.** Press *Train*: the encoder stays as it is, so it takes seconds.")
    follow_runs(runs, draw, hint, speed=speed, message=list(inputs.pair) if inputs.complete else None)
    lesson.show("What a flow cannot")
    show_source(Flow)


def speed(step: dict) -> str:
    return _(" · step {step:,} · {speed:,.0f} vectors/s").format(step=step["step"], speed=step["tokens_per_second"])


def begin(steps: int, seed: int, inputs: Inputs) -> None:
    from minibert.sentence_vectors.flow_run import FlowSettings
    from minibert.sentence_vectors.run import HeldOut
    from minibert.tasks.similarity import ScoredPair

    settings = FlowSettings(layers=inputs.layers, steps=steps, evaluate_every=max(10, steps // 10), seed=seed)
    held = HeldOut([ScoredPair(*pair) for pair in similar_pairs(inputs.language)], questions(inputs.language))
    submit(
        "minibert.sentence_vectors.flow_run:learn_flow",
        settings,
        weights_to_begin_with(CHECKPOINTS / STARTS[inputs.language]),
        list(to_fit(inputs.language)),
        held=held,
        lines=[question for question, _standard in questions(inputs.language)],
        probe_inputs=list(inputs.pair) if inputs.complete else [],
        title=_("flow, {layers}, seed {seed}").format(layers=layer_names()[inputs.layers], seed=seed),
        kind=f"{PREFIX}-flow/{inputs.layers}-{seed}-{inputs.language}",
    )


def draw(runs: list) -> None:
    """The likelihood by step, the cloud at the start and now, and the nearest neighbours of the user's sentences."""
    from plots.cone import Cloud, clouds, likelihoods

    marks = by_title(runs, evals)
    if not marks:
        return
    name, first = next(iter(marks.items()))
    summary = _("Log-likelihood of a number {start:.2f}, now {now:.2f}; mean cosine {cosine:.2f}; Spearman {rho:.2f}")
    last = first[-1][1]
    summary = summary.format(
        start=first[0][1]["likelihood"], now=last["likelihood"], cosine=last["mean_cosine"], rho=last["spearman"]
    )
    figure(
        likelihoods(
            {run: [(step, one["likelihood"]) for step, one in some] for run, some in marks.items()},
            summary,
            (_("step"), _("log-likelihood of a number")),
        ),
        _("How likely the flow finds sentences that it has not learned from. {name}: {summary}.").format(
            name=name, summary=summary
        ),
        "likelihood",
        data=[
            {_("run"): run, _("step"): step, **{key: round(value, 3) for key, value in one.items()}}
            for run, some in marks.items()
            for step, one in some
        ],
    )
    for run in runs[-1:]:
        samples = [event["answers"][0] for event in run.events() if event["event"] == "sample"]
        if not samples:
            return
        same = [one for one in samples if one["texts"] == samples[-1]["texts"]]
        panels = [
            Cloud(title, np.array(one["plane"]), None, one["cosine"])
            for title, one in ((_("first"), same[0]), (_("now"), same[-1]))
        ]
        title = _("Your two: cosine {first:.2f} first, {now:.2f} now").format(
            first=same[0]["cosine"], now=same[-1]["cosine"]
        )
        lines = [question for question, _standard in questions(run.kind.rpartition("-")[2])]
        lines = [visible(line, spaces=False) for line in (*lines, *same[-1]["texts"])]
        figure(
            clouds(panels, lines, title, (_("mean of all pairs"), _("yours"))),
            _("The desk’s questions around your two, when the run first saw them and now. {title}.").format(
                title=title
            ),
            "flow-clouds",
        )
        for before, now in zip(same[0]["found"], same[-1]["found"], strict=True):
            texts = (
                " · ".join(
                    f"{literal(visible(line, spaces=False))} ({cosine:.2f})" for line, cosine in one["nearest"][:2]
                )
                for one in (before, now)
            )
            st.markdown(
                _("**{text}** – first: {before}  \nnow: {now}").format(
                    text=literal(visible(now["text"], spaces=False)), before=next(texts), now=next(texts)
                )
            )
