"""Each arm against the base, in the paper and here with an interval, and the verdicts."""

import statistics

import streamlit as st

from minibert.experiments.claims import Judged
from minibert.experiments.results import NO_VERDICT
from sections.experiments.subject import REAL, Inputs, Measure, metric_names
from ui.claim import JUDGED, floor_words, show_verdicts, summary_of, verdict_words
from ui.lesson import Lesson
from ui.translations import _


def in_short(inputs: Inputs, measure: Measure) -> str:
    """A measure's finding: with how many claims our results agree, or why there is no verdict."""
    rows = [row for row in inputs.compared(measure) if row.claim.sign]
    said = {row.verdict for row in rows}
    if said & set(JUDGED):
        return summary_of(rows) or _("One claim – {verdict}").format(verdict=verdict_words()[rows[0].verdict])
    if "too little learned" in said and measure.share <= 0:
        return _("No verdict: no arm does better than {floor}").format(floor=floor_words(measure.key)[0])
    if "too little learned" in said:
        share = max(row.share for row in rows if row.verdict == "too little learned")
        return _("No verdict: what is ahead in the paper has learned {share:.0%} of what can be learned here").format(
            share=max(share, 0.0)
        )
    if "another task" in said:
        return _("No verdict: the paper measured another task ({task})").format(task=measure.column["name"])
    if said:
        words = verdict_words()[rows[0].verdict]
        return words[:1].upper() + words[1:]
    if "no difference in the paper" in {row.verdict for row in inputs.compared(measure)}:
        return _("The paper’s numbers do not differ")
    return _("Nothing to compare yet: one arm alone")


def best_arms(inputs: Inputs, measure: Measure) -> str:
    """A measure's finding if all its differences can be judged: our best arm, and the paper's; else why not."""
    said = {row.verdict for row in inputs.compared(measure)}
    if not said & set(JUDGED) or said & set(NO_VERDICT):
        return in_short(inputs, measure)
    names, choose = inputs.paper["arms"], min if measure.log else max
    means = {arm: statistics.fmean(measure.found[arm].values()) for arm in inputs.arms}
    ours = choose(means, key=means.get)
    said = _("Best here: {arm} {score:.1f}").format(arm=names[ours], score=means[ours])
    values = {arm: value for arm, value in measure.column.get("values", {}).items() if arm in means}
    if values:
        theirs = choose(values, key=values.get)
        said += " · " + _("in the paper: {arm} {score:g}").format(arm=names[theirs], score=values[theirs])
    return said


def of_all_measures(inputs: Inputs) -> str:
    """All comparisons of an experiment in a sentence; "" if the paper reports no direction."""
    rows = [row for measure in inputs.measures.values() for row in inputs.compared(measure)]
    told = summary_of(rows)
    return _("**All measures together.** {told}").format(told=told) if told else ""


ABOUT = {
    "objectives": "Objectives",
    "masking": "Masking split",
    "size": "Model size",
    "steps": "Training steps",
    "formats": "Input formats",
}


def show(lesson: Lesson, inputs: Inputs) -> None:
    """The differences of the chosen measure, as a figure and in words; then what the experiment tests."""
    if inputs.chosen is not None:
        rows = inputs.compared(inputs.chosen)
        if rows:
            _draw(inputs, rows)
        elif inputs.base in inputs.chosen.found:
            st.info(_("Only the base arm has been run yet."))
        else:
            st.info(_("The base arm has not been run yet, so there is no difference to show."))
        if not any(row.verdict == "too little learned" for row in rows):  # which says it already
            _how_far(inputs.chosen, inputs)
        if summary := of_all_measures(inputs):
            st.markdown(summary, width=980)
    lesson.show(ABOUT[inputs.name], level=3)
    lesson.show("What is asked", level=3)
    lesson.show("How to read a difference", level=3)


def _draw(inputs: Inputs, rows: list[Judged]) -> None:
    measure, names, base = inputs.chosen, inputs.paper["arms"], inputs.base
    axis = _("{measure}, lower is better: difference to {base}") if measure.log else _("{measure}, points above {base}")
    axis = axis.format(measure=metric_names()[measure.key], base=names[base])
    show_verdicts(rows, names, axis, in_short(inputs, measure))
    if any(row.claim.base != base for row in rows):
        st.caption(_("Where a row names another arm, the difference is to that one."))


def _how_far(measure: Measure, inputs: Inputs) -> None:
    """The baseline score without understanding, and how far the best arm gets from there to the best possible score."""
    if measure.floor is None:
        return
    words = floor_words(measure.key)[1].format(floor=f"{measure.floor:,.1f}")
    top = _("BERT base") if inputs.text == REAL else _("what can be had")
    way = _("Of the way from there to {top} ({best:g}), the best arm has gone {share:.0%}.").format(
        top=top, best=measure.best, share=max(measure.share, 0.0)
    )
    st.markdown("**" + _("Without understanding the text:") + f"** {words} {way}", width=980)
