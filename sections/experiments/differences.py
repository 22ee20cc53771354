"""The differences: each arm against the base, in the paper and here with an interval, and the verdict on each."""

import streamlit as st

from minibert.experiments.claims import Judged
from sections.experiments.subject import REAL, Measured, Shown, metric_names
from sections.experiments.verdicts import in_short, of_all_measures
from ui.claim import floor_words, show_verdicts
from ui.lesson import Lesson
from ui.translations import _

ABOUT = {
    "objectives": "Objectives",
    "masking": "Masking split",
    "size": "Model size",
    "steps": "Training steps",
    "formats": "Input formats",
}


def show(lesson: Lesson, shown: Shown) -> None:
    """The differences of the chosen measure, as a figure and in words; then what the experiment tests."""
    if shown.chosen is not None:
        rows = shown.compared(shown.chosen)
        if rows:
            _draw(shown, rows)
        elif shown.base in shown.chosen.found:
            st.info(_("Only the base arm has been run yet."))
        else:
            st.info(_("The base arm has not been run yet, so there is no difference to show."))
        if not any(row.verdict == "too little learned" for row in rows):  # which says it already
            _how_far(shown.chosen, shown)
        if summary := of_all_measures(shown):
            st.markdown(summary, width=980)
    lesson.show(ABOUT[shown.name], level=3)
    lesson.show("What is asked", level=3)
    lesson.show("How to read a difference", level=3)


def _draw(shown: Shown, rows: list[Judged]) -> None:
    measure, names, base = shown.chosen, shown.paper["arms"], shown.base
    axis = _("{measure}, lower is better: difference to {base}") if measure.log else _("{measure}, points above {base}")
    axis = axis.format(measure=metric_names()[measure.key], base=names[base])
    show_verdicts(rows, names, axis, in_short(shown, measure))
    if any(row.claim.base != base for row in rows):
        st.caption(_("Where a row names another arm, the difference is to that one."))


def _how_far(measure: Measured, shown: Shown) -> None:
    """The baseline score without understanding, and how far the best arm gets from there to the best possible score."""
    if measure.floor is None:
        return
    words = floor_words(measure.key)[1].format(floor=f"{measure.floor:,.1f}")
    top = _("BERT base") if shown.text == REAL else _("what can be had")
    way = _("Of the way from there to {top} ({best:g}), the best arm has gone {share:.0%}.").format(
        top=top, best=measure.best, share=max(measure.share, 0.0)
    )
    st.markdown("**" + _("Without understanding the text:") + f"** {words} {way}", width=980)
