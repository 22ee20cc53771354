"""The papers' claims, beside the results recorded in this repository."""

import statistics

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from sections.what_to_hide.subject import Subject
from ui.claim import PERCENT, records_of, show_claim, signed, verdict_words
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def measures() -> dict[str, str]:
    """Metric of a record → display name."""
    return {
        "span": _("three words in a row put right"),
        "span_whole": _("all three right"),
        "span_boundary": _("three words, by the boundaries alone"),
        "determined": _("one masked word put right"),
        "corrected": _("a wrong word put right, nothing masked"),
        "who_is_meant": _("whom a pronoun means, F1"),
    }


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("The claim", title=False)
    claims = {"spans": _("spans (SpanBERT)"), "words": _("whole words and similar ones"), "mismatch": _("the mismatch")}
    claim = choice("claim", _("Which claim"), claims, wrap=True)
    if claim == "spans":
        show_claim(lesson, "span", _("three words put right, %"), "spans")
        boundaries(lesson)
    elif claim == "words":
        show_claim(lesson, "who_is_meant", measures()["who_is_meant"], "words")
    else:
        mismatch(lesson)
    everything(lesson)
    lesson.show("Why small models may disagree")


def boundaries(lesson: Lesson) -> None:
    """Accuracy on three masked words from SpanBERT's boundary head alone, beside BERT, which uses the whole row."""
    records = records_of(lesson.name)
    if one := compared(records, ("spanbert", "span_boundary"), ("bert", "span"), 1):
        what = _("three words in a row put right: SpanBERT’s boundaries alone against BERT")
        st.markdown(f"- {what} {one}")


def mismatch(lesson: Lesson) -> None:
    """A model never trained on [MASK] should be worse at [MASK] and better on text without: both, paired by seed."""
    lesson.show("The mismatch")
    records = records_of(lesson.name)
    for metric, sign in (("corrected", 1), ("determined", -1)):
        for base, name in (("bert", "BERT"), ("n-grams", _("n-grams with [MASK]"))):
            if one := compared(records, ("macbert", metric), (base, metric), sign):
                what = _("{what}: MacBERT against {base}").format(what=measures()[metric], base=literal(name))
                st.markdown(f"- {what} {one}")


def compared(records: list[dict], better: tuple[str, str], base: tuple[str, str], sign: int) -> str:
    """Two (arm, metric) pairs, paired by seed, in words: the difference, the expected sign, whether it agrees; ""
    without records."""
    ours, theirs = (
        {seed: PERCENT * value for seed, value in by_arm(records, metric).get(arm, {}).items()}
        for arm, metric in (better, base)
    )
    if (one := paired_difference(ours, theirs)) is None:
        return ""
    return _("{mean}{spread} points, {n} seeds; expected {sign} – **{verdict}**").format(
        mean=signed(one.mean),
        spread="" if one.half is None else f" ± {one.half:.1f}",
        n=one.seeds,
        sign="+" if sign > 0 else "−",
        verdict=verdict_words()[verdict(one, sign)],
    )


def everything(lesson: Lesson) -> None:
    """All metrics, by arm."""
    records = records_of(lesson.name)
    if not records:
        return
    arms = list(dict.fromkeys(record["arm"] for record in records))
    rows = []
    for arm in arms:
        row = {_("arm"): arm}
        for metric, words in measures().items():
            values = list(by_arm(records, metric).get(arm, {}).values())
            spread = f" ± {PERCENT * statistics.stdev(values):.1f}" if len(values) > 1 else ""
            row[words] = f"{PERCENT * statistics.fmean(values):.1f}{spread}" if values else "–"
        rows.append(row)
    st.markdown("### " + _("All that was measured"))
    st.table(rows)
    st.caption(
        _(
            "Means over the seeds and one standard deviation, in percent, on stories that no arm has read. The "
            "boundaries of the arm “spans” were never asked."
        )
    )
