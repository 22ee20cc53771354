"""The differences: each arm against the base, the paper's and ours with their interval, and what may be said of it."""

from collections import Counter

import streamlit as st

from minibert.experiments.results import NO_VERDICT
from sections.experiments.subject import Compared, Shown, metric_names
from ui.figures import figure, legend
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def verdict_words() -> dict[str, str]:
    return {
        "agrees": _("same direction"),
        "disagrees": _("other direction"),
        "unclear": _("unclear: within the spread"),
        "no difference in the paper": _("no difference in the paper"),
        "not in the paper": _("no number in the paper"),
        "too little learned": _("no verdict: too little learned"),
        "another task": _("no verdict: another task in the paper"),
    }


def show(lesson: Lesson, shown: Shown) -> None:
    """The chosen measure's, as a figure and in words."""
    if shown.chosen is None:
        st.info(_("Nothing has been recorded yet."))
        return
    rows, names, base = shown.compared(shown.chosen), shown.paper["arms"], next(iter(shown.paper["arms"]))
    if rows:
        st.markdown(
            _("**{measure}, difference to {base}.**").format(
                measure=metric_names()[shown.chosen.key], base=literal(names[base])
            )
            + (
                " " + _("Where a row names another arm, the difference is to that one.")
                if any(row.other != base for row in rows)
                else ""
            )
        )
        _draw(shown, rows)
    elif base in shown.chosen.found:
        st.info(_("Only the base arm has been run yet."))
    else:
        st.info(_("The base arm has not been run yet, so there is no difference to show."))
    lesson.show("How to read a difference", level=3)


def _draw(shown: Shown, rows: list[Compared]) -> None:
    from plots.experiments import NO_DIRECTION, VERDICT_COLOUR, VERDICT_MARK, Gap, differences

    measure, names, base = shown.chosen, shown.paper["arms"], next(iter(shown.paper["arms"]))
    gaps, sentences = [], []
    for row in rows:
        against = "" if row.other == base else _("against {other}").format(other=names[row.other])
        ours = row.ours
        label = "<br>".join(filter(None, (names[row.arm], against)))
        gaps.append(Gap(label, row.printed, ours.mean if ours else None, ours.half if ours else None, row.verdict))
        sentences.append("- " + _sentence(", ".join(filter(None, (names[row.arm], against))), row))
    counts = Counter(row.verdict for row in rows)
    told = len(rows) - sum(counts[said] for said in NO_DIRECTION)
    kept = sum(counts[said] for said in NO_VERDICT)
    if told and kept == told:
        why = next(verdict_words()[said] for said in NO_VERDICT if counts[said])
        summary = _("Of {n} directions in the paper, none can be judged here ({why}).").format(n=told, why=why)
    else:
        summary = _(
            "Of {n} directions in the paper, ours agree in {same}, disagree in {other}, and leave {open} open."
        ).format(n=told, same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
    unit = _("{measure}, lower is better") if measure.log else _("points of {measure}")
    fig = differences(
        gaps,
        (_("the paper"), _("ours, with 95 % interval")),
        unit.format(measure=metric_names()[measure.key]),
        summary,
    )
    alt = _("Differences between arms, the paper's and ours. {summary}").format(summary=summary)
    with st.container(key="wide-differences"):
        figure(fig, alt + " " + " ".join(line[2:] for line in sentences), key="differences")
    shown_verdicts = [said for said in ("agrees", "disagrees", "unclear", *NO_VERDICT) if counts[said]]
    keys = [(VERDICT_COLOUR[said], VERDICT_MARK[said], verdict_words()[said]) for said in shown_verdicts]
    if any(counts[said] for said in NO_DIRECTION):
        keys.append((VERDICT_COLOUR["not in the paper"], "□", _("the paper tells no direction")))
    legend(keys)
    st.markdown(f"**{summary}**\n\n" + "\n".join(sentences), width=980)
    if measure.column.get("lower"):
        st.caption(_("Lower is better here: a difference below zero is an improvement."))


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
