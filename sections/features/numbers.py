"""The results in numbers, and how to interpret them."""

import statistics

import streamlit as st

from minibert.experiments.claims import values
from sections.features.recorded_runs import table_of
from sections.features.subject import PAPER, Inputs, arm_names, metric_of
from ui.lesson import Lesson
from ui.recorded import comparison, recorded
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    if records := recorded(inputs.shown):
        st.table(table_of(inputs))
        found = values(records, metric_of(comparison(inputs.shown))[0])
        findings(inputs.shown, found, arm_names(inputs.shown))
    lesson.show("What came out" if inputs.tagging else "Sentences")
    lesson.show("How to read these numbers")
    if inputs.tagging:
        lesson.show("Against the paper")


def findings(name: str, found: dict[str, dict[int, float]], names: dict[str, str]) -> None:
    """The best frozen arm against the best fine-tuned one, in a sentence."""
    from minibert.experiments.results import paired_difference

    made = comparison(name)
    frozen = [arm for arm in found if made.values(arm).get("freeze") == "all"]
    tuned = [arm for arm in found if arm not in frozen and arm != "random"]
    if not (frozen and tuned):
        return
    best, base = (max(arms, key=lambda arm: statistics.fmean(found[arm].values())) for arms in (frozen, tuned))
    ours = paired_difference(found[best], found[base])
    if ours is None or ours.half is None:
        return
    gap = f"{ours.mean:+.1f} ± {ours.half:.1f}".replace("-", "−")
    text = _(
        "Best frozen arm here: **{best}**, {gap} points against **{base}** (95 % interval over {n} seeds)."
    ).format(best=literal(names[best]), gap=gap, base=literal(names[base]), n=ours.seeds)
    if name != "pooling":
        printed = PAPER["values"]
        their_best = max((arm for arm in printed if arm != "fine-tuned"), key=printed.get)
        theirs = f"{printed[their_best] - printed['fine-tuned']:+.1f}".replace("-", "−")
        text += " " + _("In the paper: {arm}, {gap}.").format(arm=literal(names[their_best]), gap=theirs)
    st.markdown(text, width=820)
