"""The picture: the paper's numbers, ours, and what needs no understanding, on one scale."""

import statistics
from collections import Counter

import streamlit as st

from minibert.experiments.results import LEAST_LEARNED, NO_VERDICT
from sections.experiments.subject import Measured, Shown, metric_names, papers
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, shown: Shown) -> None:
    """The scores of the chosen measure; what can be said of all measures together; the experiment in words."""
    with picture():
        if shown.chosen is None:
            _nothing(shown)
        else:
            with st.container(key="wide-picture"):
                (_draw_steps if shown.name == "steps" else _draw_scores)(shown, shown.chosen)
            _how_far(shown.chosen)
    if shown.chosen:
        _summary(shown)
    lesson.show(
        {
            "objectives": "Objectives",
            "masking": "Masking split",
            "size": "Model size",
            "steps": "Training steps",
            "formats": "Input formats",
        }[shown.name],
        level=3,
    )


def _nothing(shown: Shown) -> None:
    if shown.records:
        st.warning(_("The recorded results hold none of the measures this page draws."))
        return
    with st.container(border=True, key="no-results"):
        st.markdown(
            _("**No results of this experiment have been recorded here yet.** This makes them, in an hour or more:")
        )
        st.code(f"python -m minibert experiment {shown.name} --seeds 3", "bash")


def _short_floor(measure: str) -> str:
    """What needs no understanding, in three words."""
    return {
        "sst2": _("always “positive”"),
        "mrpc": _("always “paraphrase”"),
        "ner": _("a word list"),
        "ner_features": _("a word list"),
        "mlm_perplexity": _("frequencies alone"),
    }[measure]


def _span(values: list[float]) -> str:
    """Such as 75.3–76.5, with the digits that tell them apart."""
    digits = 0 if min(values) >= 200 else 1
    low, high = (f"{value:,.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}–{high}"


def _finding(measure: Measured) -> str:
    """Ours, the paper's and what needs no understanding, in a line."""
    parts = [_("ours {span}").format(span=_span([statistics.fmean(s.values()) for s in measure.found.values()]))]
    theirs = [value for arm, value in measure.column.get("values", {}).items() if arm in measure.found]
    if theirs:
        task = f" ({measure.column['name']})" if measure.column.get("other_task") else ""
        parts.append(_("the paper’s {span}").format(span=_span(theirs)) + task)
    if measure.floor is not None:
        parts.append(f"{_short_floor(measure.key)} {measure.floor:,.1f}")
    return f"{metric_names()[measure.key]}: " + ", ".join(parts)


def _draw_scores(shown: Shown, measure: Measured) -> None:
    from plots.experiments import Score, on_one_scale

    paper, column = shown.paper, measure.column
    values = column.get("values", {})
    rows = [Score(paper["arms"][arm], values.get(arm), measure.found[arm]) for arm in shown.arms]
    ours = metric_names()[measure.key]
    legend = (
        _("the paper: {name}").format(name=column["name"]),
        _("ours: {name}; a dot a seed, mean ± sd").format(name=ours),
        _short_floor(measure.key),
    )
    unit = _("{measure}, lower is better").format(measure=ours) if column.get("lower") else _("percent")
    finding = _finding(measure)
    table = []
    for row in rows:
        seeds = list(row.ours.values())
        table.append(
            {
                _("arm"): row.name,
                _("paper"): "–" if row.paper is None else f"{row.paper:g}",
                _("ours, mean"): f"{statistics.fmean(seeds):.2f}",
                _("sd"): f"{statistics.stdev(seeds):.2f}" if len(seeds) > 1 else "–",
                _("seeds"): len(seeds),
            }
        )
    words = "; ".join(
        _("{arm}: paper {paper}, ours {ours} ± {sd}").format(
            arm=row[_("arm")], paper=row[_("paper")], ours=row[_("ours, mean")], sd=row[_("sd")]
        )
        for row in table
    )
    fig = on_one_scale(rows, legend, unit, _("seed"), measure.floor, log=measure.log, title=finding)
    figure(fig, f"{finding}. {words}.", key="scores", data=table)
    if not values:
        caption = _("This measure is not in {source}; the directions are those of {theirs} there.")
    else:
        caption = _("The paper: {source}.")
    st.caption(caption.format(source=literal(paper["source"]), theirs=literal(column["name"])))


def _draw_steps(shown: Shown, measure: Measured) -> None:
    from plots.experiments import over_steps

    steps = {record["arm"]: record["steps"] for record in shown.records}
    words = {"mlm": _("MLM + NSP"), "left-to-right": _("left-to-right")}
    lines: dict[str, dict] = {}
    for arm, seeds in measure.found.items():
        line = words.get(arm.partition("@")[0], arm)
        lines.setdefault(line, {})[steps[arm]] = seeds
    parts = [
        f"{line}: "
        + ", ".join(f"{step:,}: {statistics.fmean(seeds.values()):.1f}" for step, seeds in sorted(points.items()))
        for line, points in lines.items()
    ]
    name, finding = metric_names()[measure.key], _finding(measure)
    alt = _("{measure} after so many steps of pre-training. {parts}.").format(measure=name, parts="; ".join(parts))
    floor = None if measure.floor is None else (measure.floor, _short_floor(measure.key))
    fig = over_steps(lines, (_("steps of pre-training"), name), floor=floor, title=finding)
    figure(fig, f"{finding}. {alt}", key="over-steps")
    st.caption(
        _(
            "A small dot is a seed; the line joins their means, the bars are one standard deviation. The directions "
            "are those of {theirs} in {source}."
        ).format(theirs=literal(measure.column["name"]), source=literal(shown.paper["source"]))
    )


def _floor_words(measure: str) -> str:
    tags = _(
        "Giving each word the tag it has most often in the training sentences, and O to a word not among them, has F1 "
        "{floor}."
    )
    return {
        "sst2": _("Always answering “positive” is right in {floor} %."),
        "mrpc": _("Always answering “paraphrase” is right in {floor} %."),
        "ner": tags,
        "ner_features": tags,
        "mlm_perplexity": _(
            "Guessing by how frequent each token is, whatever stands around it, has perplexity {floor}."
        ),
    }[measure]


def _how_far(measure: Measured) -> None:
    """What is had without any understanding, and how far the arms get beyond it."""
    if measure.floor is None:
        return
    sign = -1 if measure.column.get("lower") else 1
    gains = [sign * (statistics.fmean(seeds.values()) - measure.floor) for seeds in measure.found.values()]
    better = sum(gain > 0 for gain in gains)
    if better:
        arms = _("On average over the seeds, {n} of {all} arms do better, the best by {gain:,.1f}.").format(
            n=better, all=len(gains), gain=max(gains)
        )
    else:
        arms = _("On average over the seeds, no arm does better.")
    words = _floor_words(measure.key).format(floor=f"{measure.floor:,.1f}")
    best, share = papers()["bert_base"][measure.key], measure.share
    way = _("Of the way from there to BERT base ({best:g}), the best arm has gone {share:.0%}").format(
        best=best, share=max(share, 0.0)
    )
    way += _(": **too little for a verdict.**") if share < LEAST_LEARNED else "."
    st.markdown("**" + _("Without understanding the sentence:") + f"** {words} {arms} {way}", width=980)


def _summary(shown: Shown) -> None:
    """All comparisons of an experiment in one sentence."""
    rows = [row for measure in shown.measures.values() for row in shown.compared(measure)]
    counts = Counter(row.verdict for row in rows)
    n = sum(counts[said] for said in ("agrees", "disagrees", "unclear"))
    little, other = (counts[said] for said in NO_VERDICT)
    if not n + little + other:
        return
    said = _("**All measures together: in {n} comparisons the paper tells a direction.").format(n=n + little + other)
    if little + other:
        said += " " + _(
            "In {no} of them no verdict can be had here: in {little} too little was learned, in {other} the paper "
            "measured another task."
        ).format(no=little + other, little=little, other=other)
    if n:
        left = _("Ours point") if not little + other else _("Of the other {n}, ours point").format(n=n)
        said += f" {left} " + _(
            "the same way in {same}, the other way in {other}, and are unclear in {open}**: other seeds could give the "
            "other sign."
        ).format(same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
    else:
        said += "**"
    st.markdown(said, width=980)
