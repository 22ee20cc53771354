"""The differences: each arm against the base, in the paper and here with an interval, and the verdict on each."""

from collections import Counter

import streamlit as st

from minibert.experiments.results import LEAST_LEARNED, NO_VERDICT
from sections.experiments.subject import REAL, Compared, Measured, Shown, metric_names
from sections.experiments.verdicts import JUDGED, in_short, of_all_measures, verdict_words
from ui.figures import figure, legend
from ui.lesson import Lesson
from ui.text import literal
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
        _how_far(shown.chosen, shown)
        if summary := of_all_measures(shown):
            st.markdown(summary, width=980)
    lesson.show(ABOUT[shown.name], level=3)
    lesson.show("What is asked", level=3)
    lesson.show("How to read a difference", level=3)


def _draw(shown: Shown, rows: list[Compared]) -> None:
    from plots.experiments import NO_DIRECTION, VERDICT_COLOUR, VERDICT_MARK, Gap, differences

    measure, names, base = shown.chosen, shown.paper["arms"], shown.base
    gaps, sentences = [], []
    for row in rows:
        against = "" if row.other == base else _("against {other}").format(other=names[row.other])
        ours = row.ours
        label = "<br>".join(filter(None, (names[row.arm], against)))
        gaps.append(Gap(label, row.printed, ours.mean if ours else None, ours.half if ours else None, row.verdict))
        sentences.append("- " + _sentence(", ".join(filter(None, (names[row.arm], against))), row))
    counts = Counter(row.verdict for row in rows)
    finding = in_short(shown, measure)
    axis = _("{measure}, lower is better: difference to {base}") if measure.log else _("{measure}, points above {base}")
    axis = axis.format(measure=metric_names()[measure.key], base=names[base])
    fig = differences(gaps, (_("the paper"), _("ours, with 95 % interval")), axis, finding)
    alt = _("Differences between arms, the paper's and ours. {summary}.").format(summary=finding)
    with st.container(key="wide-differences"):
        figure(fig, alt + " " + " ".join(line[2:] for line in sentences), key="differences")
    found = [said for said in (*JUDGED, *NO_VERDICT) if counts[said]]
    keys = [(VERDICT_COLOUR[said], VERDICT_MARK[said], verdict_words()[said]) for said in found]
    if any(counts[said] for said in NO_DIRECTION):
        keys.append((VERDICT_COLOUR["not in the paper"], "□", _("the paper tells no direction")))
    legend(keys)
    st.markdown("\n".join(sentences), width=980)
    notes = []
    if any(row.other != base for row in rows):
        notes.append(_("Where a row names another arm, the difference is to that one."))
    if measure.column.get("lower"):
        notes.append(_("Lower is better here: a difference below zero is an improvement."))
    if notes:
        st.caption(" ".join(notes))


def _sentence(name: str, row: Compared) -> str:
    """One comparison in words."""
    ours = row.ours
    if row.printed is not None:
        theirs = _("{gap} in the paper").format(gap=_signed(row.printed))
    elif row.direction:
        theirs = _("higher in the paper") if row.direction > 0 else _("lower in the paper")
    else:
        theirs = _("not in the paper")
    if ours is None:
        here = _("no seed in common here")
    elif ours.half is None:
        here = _("{mean} here, from a single seed").format(mean=_signed(ours.mean))
    else:
        here = _("{mean} ± {half:.1f} here, over {n} seeds").format(
            mean=_signed(ours.mean), half=ours.half, n=ours.seeds
        )
    return _("{arm}: {theirs}, {here} – **{verdict}**").format(
        arm=literal(name), theirs=theirs, here=here, verdict=verdict_words()[row.verdict]
    )


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−") if value else "0.0"


def _floor_words(measure: str) -> str:
    tags = _(
        "Giving each word the tag it has most often in the training sentences, and O to a word not among them, has F1 "
        "{floor}."
    )
    named = _("Always answering the first word of the story that is an answer anywhere has F1 {floor}.")
    return {
        "sst2": _("Always answering “positive” is right in {floor} %."),
        "mrpc": _("Always answering “paraphrase” is right in {floor} %."),
        "ner": tags,
        "ner_features": tags,
        "mlm_perplexity": _(
            "Guessing by how frequent each token is, whatever stands around it, has perplexity {floor}."
        ),
        "determined": _("The word seen most often between the same two neighbours is right in {floor} %."),
        "meant": named,
        "meant_features": named,
    }[measure]


def _how_far(measure: Measured, shown: Shown) -> None:
    """The baseline score without understanding, and how far the best arm gets from there to the best possible score."""
    if measure.floor is None:
        return
    words = _floor_words(measure.key).format(floor=f"{measure.floor:,.1f}")
    top = _("BERT base") if shown.text == REAL else _("what can be had")
    way = _("Of the way from there to {top} ({best:g}), the best arm has gone {share:.0%}").format(
        top=top, best=measure.best, share=max(measure.share, 0.0)
    )
    if measure.share < LEAST_LEARNED:
        way += _(", less than a third: **too little for a verdict.**")
    else:
        way += "."
    st.markdown("**" + _("Without understanding the text:") + f"** {words} {way}", width=980)
