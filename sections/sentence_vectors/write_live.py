"""SimBERT, trained live on the desk's few questions: on held-out questions it finds and writes visibly worse."""

import os
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.sentence_vectors.subject import PREFIX, Subject
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.predict import predict
from ui.runs import (
    by_title,
    evals,
    going,
    live,
    manager,
    own_runs,
    show_refusal,
    state_rows,
    submit,
    tell,
    weights_to_begin_with,
)
from ui.samples import questions
from ui.text import literal, visible
from ui.translations import _

STARTS = {"en": "mini-en", "zh": "mini-zh"}
KIND = f"{PREFIX}-simbert"
LOSSES = {"both": {}, "finds": {"writes": False}, "writes": {"finds": False}}
ASKED, WRITTEN = 300, 40  # test pairs of LCQMC, to find and to write


def kinds() -> dict[str, str]:
    return {"both": "SimBERT", "finds": _("finding alone"), "writes": _("writing alone")}


def show(lesson: Lesson, seen: Subject) -> None:
    manager().warm_up()
    lesson.show("Let one learn")
    sources = {"desk": _("the desk’s questions")}
    if seen.language == "zh" and lcqmc():
        sources["lcqmc"] = "LCQMC"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        who = choice("simbert", _("Who learns"), {**kinds(), "each": _("Each loss, and both")}, box=240)
        source = choice("source", _("Learns from"), sources, box=220) if len(sources) > 1 else "desk"
        steps = st.slider(_("Steps"), 20, 300, 100, 20, key="simbert-steps", width=220)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-simbert"):
            for name in LOSSES if who == "each" else (who,):
                begin(name, source, int(steps), seen)
    show_refusal()
    runs = [run for run in own_runs(KIND) if run.kind.endswith(seen.language)][2::-1]
    if not runs:
        st.markdown(_("**No run yet.** Press *Train*: within half a minute it writes questions of the desk’s kind."))
        return
    guessed = predict(
        "overfits",
        _("100 steps on so few questions: which does it go on to write better?"),
        [_("Those it learns from"), _("Those held out"), _("Both alike")],
        0,
    )
    tell(runs, [seen.text])
    live(
        tuple(run.id for run in runs),
        draw if guessed else lambda found: None,
        lambda found: state_rows(going(found), speed),
    )


def speed(step: dict) -> str:
    return _(" · step {step:,} · {speed:,.0f} tokens/s").format(step=step["step"], speed=step["tokens_per_second"])


def lcqmc() -> tuple[Path, Path] | None:
    """Development set (for training) and test set of LCQMC; None without the data."""
    files = tuple(
        Path(os.environ.get("MINIBERT_DATA", ""), "tasks", "zh", "lcqmc", name) for name in ("dev.txt", "test.txt")
    )
    return files if all(file.is_file() for file in files) else None


def parts_of(desk: tuple[tuple[str, str], ...]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(training, held out): the last question of each standard question is held out."""
    last = {standard: question for question, standard in desk}
    held = [(question, standard) for standard, question in last.items()]
    return [one for one in desk if one not in held], held


def begin(name: str, source: str, steps: int, seen: Subject) -> None:
    from minibert.sentence_vectors.simbert import SimBertSettings, group_questions

    desk = questions(seen.language)
    learned, held = parts_of(desk)
    groups = group_questions(learned)
    first = {standard: question for question, standard in reversed(learned)}
    asked = {
        "desk": learned,
        "held_out": held,
        "pairs": [(first[standard], question) for question, standard in held],
        "learned": [(group[0], group[-1]) for group in groups],
    }
    if source == "lcqmc":
        from minibert.sentence_vectors.inference import pairs_labelled

        groups, test = (pairs_labelled(file) for file in lcqmc())
        some = [(text, str(number)) for number, pair in enumerate(test[:ASKED]) for text in pair]
        asked = {"held_out": some[::2], "desk": some[1::2], "pairs": test[:WRITTEN], "learned": groups[:WRITTEN]}
    settings = SimBertSettings(**LOSSES[name], steps=steps, evaluate_every=max(2, steps // 10))
    submit(
        "minibert.sentence_vectors.simbert_run:train_simbert",
        settings,
        weights_to_begin_with(CHECKPOINTS / STARTS[seen.language]),
        groups,
        **asked,
        watch=[seen.text],
        title=kinds()[name] if source == "desk" else f"{kinds()[name]} · LCQMC",
        kind=f"{KIND}/{name}-{seen.language}",
    )


def draw(runs: list) -> None:
    """Retrieval accuracy and nats per token by step, in training and held-out questions; each run's current output."""
    from plots.sentence_vectors import found_and_written

    marks = by_title(runs, evals)
    if not marks:
        return
    titles = (_("held-out questions that find one of their own"), _("nats a token of the question written"))
    looks = (_("learned from"), _("held out"))
    said = _("{name}: found {found:.0%}, nats {nats_learned:.1f} of those learned from, {nats:.1f} of those held out")
    told = "; ".join(said.format(name=name, **found[-1][1]) for name, found in marks.items())
    figure(
        found_and_written(
            marks, titles, looks, told if len(marks) == 1 else _("{n} runs").format(n=len(marks)), _("step")
        ),
        _("SimBERT as it learns. {told}.").format(told=told),
        "found-and-written",
        wide=True,
        data=[
            {_("run"): name, _("step"): step, **{key: round(value, 3) for key, value in metrics.items()}}
            for name, found in marks.items()
            for step, metrics in found
        ],
    )
    for run in runs:
        said = [event["answers"][0] for event in run.events() if event["event"] == "sample"]
        if said:
            one = said[-1]
            found, written = map(in_a_line, (one["nearest"][:2], one["written"][:2]))
            st.markdown(
                _("**{title}**, “{text}” – finds: {found}  \nwrites: {written}").format(
                    title=literal(run.title),
                    text=literal(visible(one["text"], spaces=False)),
                    found=found,
                    written=written or _("the question itself"),
                )
            )


def in_a_line(some: list) -> str:
    return " · ".join(f"{literal(visible(line, spaces=False))} ({cosine:.2f})" for line, cosine in some)
