"""The verdicts on differences: for a figure's title, and over all measures."""

import statistics
from collections import Counter

from minibert.experiments.results import NO_VERDICT, VERDICTS
from sections.experiments.subject import Measured, Shown
from ui.translations import _, ngettext

JUDGED = ("agrees", "disagrees", "unclear")


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


def short_floor(measure: str) -> str:
    """The baseline without understanding, in a few words."""
    return {
        "sst2": _("always “positive”"),
        "mrpc": _("always “paraphrase”"),
        "ner": _("a word list"),
        "ner_features": _("a word list"),
        "mlm_perplexity": _("frequencies alone"),
        "determined": _("the two neighbours alone"),
        "meant": _("always the first one named"),
        "meant_features": _("always the first one named"),
    }[measure]


def _counted(verdicts: list[str]) -> str:
    """Such as "2 agree, 1 disagrees, 1 is unclear"; "" without any verdict."""
    counts = Counter(verdicts)
    words = {"agrees": _("agree {n}"), "disagrees": _("disagree {n}"), "unclear": _("unclear {n}")}
    return ", ".join(words[said].format(n=counts[said]) for said in JUDGED if counts[said])


def in_short(shown: Shown, measure: Measured) -> str:
    """A measure's finding: how often our differences have the paper's direction, or why there is no verdict."""
    said = [row.verdict for row in shown.compared(measure)]
    told = [one for one in said if one in (*JUDGED, *NO_VERDICT)]
    if judged := _counted(told):
        return ngettext(
            "{n} direction in the paper: {counts}", "{n} directions in the paper: {counts}", len(told)
        ).format(n=len(told), counts=judged)
    if "too little learned" in told and measure.share <= 0:
        return _("No verdict: no arm does better than {floor}").format(floor=short_floor(measure.key))
    if "too little learned" in told:
        return _("No verdict: the best arm has learned {share:.0%} of what can be learned").format(share=measure.share)
    if "another task" in told:
        return _("No verdict: the paper measured another task ({task})").format(task=measure.column["name"])
    if "no difference in the paper" in said:
        return _("The paper’s numbers do not differ")
    return _("Nothing to compare yet: one arm alone")


def best_arms(shown: Shown, measure: Measured) -> str:
    """A measure's finding if it has a verdict: our best arm, and the paper's; else why it has none."""
    if not any(row.verdict in JUDGED for row in shown.compared(measure)):
        return in_short(shown, measure)
    names, choose = shown.paper["arms"], min if measure.column.get("lower") else max
    means = {arm: statistics.fmean(measure.found[arm].values()) for arm in shown.arms}
    ours = choose(means, key=means.get)
    said = _("Best here: {arm} {score:.1f}").format(arm=names[ours], score=means[ours])
    values = {arm: value for arm, value in measure.column.get("values", {}).items() if arm in means}
    if values:
        theirs = choose(values, key=values.get)
        said += " · " + _("in the paper: {arm} {score:g}").format(arm=names[theirs], score=values[theirs])
    return said


def of_all_measures(shown: Shown) -> str:
    """All comparisons of an experiment in a sentence; "" if the paper reports no direction."""
    counts = Counter(row.verdict for measure in shown.measures.values() for row in shown.compared(measure))
    assert set(counts) <= set(VERDICTS)
    n, (little, other) = sum(counts[said] for said in JUDGED), (counts[said] for said in NO_VERDICT)
    if not n + little + other:
        return ""
    said = _("**All measures together: in {n} comparisons the paper tells a direction.").format(n=n + little + other)
    if little + other:
        said += " " + _(
            "In {no} of them no verdict can be had here: in {little} too little was learned, in {other} the paper "
            "measured another task."
        ).format(no=little + other, little=little, other=other)
    if not n:
        return said + "**"
    left = _("Of the other {n}, ours point").format(n=n) if little + other else _("Ours point")
    return f"{said} {left} " + _(
        "the same way in {same}, the other way in {other}, and are unclear in {open}**: other seeds could give the "
        "other sign."
    ).format(same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
