"""Each arm against the base, in the paper and here with an interval, and the verdicts."""

import streamlit as st

from minibert.experiments.claims import Judged
from sections.experiments.subject import Inputs, Measure, metric_names
from ui.claim import JUDGED, floor_words, show_verdicts, summary_of, verdict_words
from ui.lesson import Lesson
from ui.text import one_by_one
from ui.translations import _


def in_short(inputs: Inputs, measure: Measure) -> str:
    """A measure's finding: how many of the claims our results bear out, or why there is no verdict."""
    compared = inputs.compared(measure)
    rows = [row for row in compared if row.claim.sign]
    said, names = {row.verdict for row in rows}, inputs.paper["arms"]
    if said & set(JUDGED):
        return summary_of(rows) or _("{arm}: {verdict}").format(
            arm=names[rows[0].claim.arm], verdict=verdict_words()[rows[0].verdict]
        )
    if said:
        few = [row for row in rows if row.verdict == "too little learned"]
        return no_verdict(max(few or rows, key=lambda row: row.share or 0.0), inputs, measure)
    if "no difference in the paper" in {row.verdict for row in compared}:
        return _("No difference in the paper: {column}").format(column=measure.column["name"])
    return _("Nothing to compare yet: one arm alone")


def no_verdict(row: Judged, inputs: Inputs, measure: Measure) -> str:
    """Why a claim has none."""
    if row.verdict == "too little learned" and measure.share <= 0:
        return _("No verdict: no arm does better than {floor}").format(floor=floor_words(measure.key)[0])
    if row.verdict == "too little learned":
        return _("No verdict: {arm} has learned {share:.0%} of what it could").format(
            arm=inputs.paper["arms"][ahead_in_paper(row, measure)], share=max(row.share, 0.0)
        )
    words = verdict_words()[row.verdict]
    return words[:1].upper() + words[1:]


def ahead_in_paper(row: Judged, measure: Measure) -> str:
    """The one of the two arms that does better in the paper."""
    return row.claim.arm if (row.claim.sign > 0) != measure.log else row.claim.base


def foremost(inputs: Inputs, measure: Measure) -> Judged | None:
    """The claim of which the paper's difference is the largest; None if it tells no direction."""
    told = [row for row in inputs.compared(measure) if row.claim.sign]
    return max(told, key=lambda row: abs(row.claim.sign), default=None)


def headline(inputs: Inputs, measure: Measure) -> str:
    """What was found of the foremost claim."""
    row, names = foremost(inputs, measure), inputs.paper["arms"]
    if row is None or row.verdict not in JUDGED:
        return in_short(inputs, measure) if row is None else no_verdict(row, inputs, measure)
    ahead = (row.ours.mean < 0) == measure.log
    way = _("“{arm}” better than “{base}”") if ahead else _("“{arm}” worse than “{base}”")
    said = {
        "agrees": _("As in the paper: {found}"),
        "disagrees": _("Against the paper: {found}"),
        "unclear": _("Not decided by the seeds: {found}"),
    }
    found = way.format(arm=names[row.claim.arm], base=names[row.claim.base])
    return said[row.verdict].format(found=found)


def both_say(inputs: Inputs, measure: Measure) -> str:
    """What the paper says of the foremost claim, and what ours say of it, in a sentence."""
    row, names = foremost(inputs, measure), inputs.paper["arms"]
    if row is None:
        nothing = _(
            "In the paper these arms differ by less than half a point of {column}: there is nothing to find again."
        )
        return nothing.format(column=measure.column["name"]) if inputs.compared(measure) else ""
    better, worse = _("In the paper “{arm}” is better than “{base}”"), _("In the paper “{arm}” is worse than “{base}”")
    theirs = better if ahead_in_paper(row, measure) == row.claim.arm else worse
    if row.claim.paper is not None:
        theirs += _(", by {points:.4g}")
    ours = {
        "agrees": _("here too."),
        "disagrees": _("here it is the other way round."),
        "unclear": _("here the seeds do not decide it."),
        "too little learned": _("ours cannot say: {ahead} has learned {share:.0%} of what there is to learn here."),
        "nothing left to gain": _("ours cannot say: hardly anything is left to gain here."),
        "another task": _("ours cannot say, for it is another task."),
    }.get(row.verdict, verdict_words()[row.verdict] + _("."))
    return (theirs + _("; ") + ours).format(
        arm=names[row.claim.arm],
        base=names[row.claim.base],
        points=abs(row.claim.paper or 0),
        ahead=names[ahead_in_paper(row, measure)],
        share=max(row.share or 0.0, 0.0),
    )


def of_all_measures(inputs: Inputs) -> str:
    """All comparisons of an experiment in a sentence; "" if the paper reports no direction."""
    rows = [row for measure in inputs.measures.values() for row in inputs.compared(measure)]
    told = summary_of(rows)
    return _("**All measures together.** {told}.").format(told=told) if told else ""


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
    way = _("The best arm has {share:.0%} of the possible gain, from there up to {best:g}.").format(
        best=measure.best, share=max(measure.share, 0.0)
    )
    start = "**" + _("Without understanding the text:") + "**"
    st.markdown(one_by_one(start, words, way), width=980)
