"""The verdicts on differences: for a figure's title, and over all measures."""

import statistics

from minibert.experiments.results import NO_VERDICT
from sections.experiments.subject import Measured, Shown
from ui.claim import JUDGED, floor_words, summary_of, verdict_words
from ui.translations import _


def in_short(shown: Shown, measure: Measured) -> str:
    """A measure's finding: with how many claims our results agree, or why there is no verdict."""
    rows = [row for row in shown.compared(measure) if row.claim.sign]
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
    if "no difference in the paper" in {row.verdict for row in shown.compared(measure)}:
        return _("The paper’s numbers do not differ")
    return _("Nothing to compare yet: one arm alone")


def best_arms(shown: Shown, measure: Measured) -> str:
    """A measure's finding if all its differences can be judged: our best arm, and the paper's; else why not."""
    said = {row.verdict for row in shown.compared(measure)}
    if not said & set(JUDGED) or said & set(NO_VERDICT):
        return in_short(shown, measure)
    names, choose = shown.paper["arms"], min if measure.log else max
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
    rows = [row for measure in shown.measures.values() for row in shown.compared(measure)]
    told = summary_of(rows)
    return _("**All measures together.** {told}").format(told=told) if told else ""
