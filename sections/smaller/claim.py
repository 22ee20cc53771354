"""The claims beside our records on SST-2: what students keep of their teacher, what pruning and search cost."""

import statistics
from collections.abc import Sequence
from functools import partial

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from sections.smaller.subject import Inputs
from ui.claim import caption_records, recorded_or_hint, seconds_in_words, show_claim, show_verdicts
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    titles = {
        "size": _("what the teacher brings"),
        "losses": _("a loss less"),
        "cut": _("cut away"),
        "search": _("search"),
    }
    claim = choice("claim", _("Which claim"), titles, wrap=True)
    if claim in ("cut", "search"):
        pruning_and_search(lesson, claim)
        return
    show_claim(f"smaller-{claim}", "accuracy", _("accuracy, SST-2 dev, %"), recorded)
    lesson.show("What they say, and what we find")
    lesson.show("What became of it")


def recorded(records: Sequence[dict]) -> None:
    scale = records[-1]["scale"]
    longer = max(record["pretraining"].get("times", 1.0) for record in records)
    words = _(
        "The teacher is {teacher}, the student {student}; {labelled:,} sentences of SST-2 have labels, {unlabelled:,} "
        "more have none, and the teacher judges them. Every student reads {rows:,} rows, “3 × as long” and “of 60,000” "
        "{more:,}; the dev set has 872 ({n}). Processor seconds: {seconds}."
    )
    caption_records(
        records,
        words,
        teacher=literal(scale["teacher"]),
        student=literal(scale["begins_with"]),
        labelled=scale["labelled"],
        unlabelled=scale["unlabelled"],
        rows=scale["epochs"] * (scale["labelled"] + scale["unlabelled"]),
        more=scale["labelled"] + round(longer * scale["unlabelled"]),
        seconds=seconds_in_words(sorted(records, key=lambda record: record["seconds"])),  # the slowest seed's
    )


def pruning_and_search(lesson: Lesson, claim: str) -> None:
    name = {"cut": "pruning", "search": "search"}[claim]
    if not (records := recorded_or_hint(name)):
        return
    (of_pruning if claim == "cut" else of_search)(records)
    show_verdicts(claims.judged(name, records), {})
    st.caption(_("“Without a loss” and “nothing” mean: less than 2 points lost, anywhere in the 95 % interval."))
    scale = records[-1]["scale"]
    words = _("SST-2, {labelled:,} labels, then {again:,} of them once more; {n}; the dev set has 872.")
    caption_records(records, words, labelled=scale["labelled"], again=scale["again"])
    lesson.show({"cut": "What cutting costs", "search": "What a search finds"}[claim])


def of_pruning(records: list[dict]) -> None:
    from plots.pruning import LINES, over_shares

    before, after = claims.values(records, "before"), claims.values(records, "accuracy")
    lines: dict[str, dict[float, tuple[float, float, float]]] = {}
    for arm, seeds in after.items():
        kind, _dash, percent = arm.partition("-")
        if kind in LINES:
            values = [value / 100 for value in seeds.values()]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            middle = statistics.fmean(before[arm].values()) / 100
            lines.setdefault(kind, {})[int(percent) / 100] = (middle, statistics.fmean(values), spread)
    whole = statistics.fmean(after["full"].values()) / 100
    words = {
        "heads": _("heads"),
        "neurons": _("neurons"),
        "layers": _("layers"),
        "weights": _("single weights"),
        "x": _("share that is gone"),
        "y": _("accuracy, SST-2 dev, %"),
        "whole": _("nothing cut"),
    }
    listed = _("; ").join(
        f"{words[kind]} {share:.0%}{_(': ')}{line[share][0]:.1%} → {line[share][1]:.1%}"
        for kind, line in lines.items()
        for share in sorted(line)
    )
    figure(
        partial(over_shares, lines, whole, _("Open: just cut. Filled: after it has learned on"), words),
        _("Accuracy over the share that is gone. {told}. Nothing cut: {whole:.1%}.").format(told=listed, whole=whole),
        "over-shares",
        data=[
            {
                _("what"): words[kind],
                _("gone"): f"{share:.0%}",
                _("just cut"): f"{line[share][0]:.1%}",
                _("learned on"): f"{line[share][1]:.1%}",
                _("sd"): f"{100 * line[share][2]:.1f}",
            }
            for kind, line in lines.items()
            for share in sorted(line)
        ],
    )


def of_search(records: list[dict]) -> None:
    names = {
        "whole": _("whole, as usual"),
        "super": _("whole, after being all parts"),
        "found": _("found, trained further"),
        "drawn": _("another part, drawn"),
        "alone": _("found, trained alone"),
    }
    milliseconds = by_arm(records, "milliseconds")
    rows = [
        {
            _("network"): names[arm],
            _("right"): f"{statistics.fmean(seeds.values()):.1f} %",
            _("seeds"): _(", ").join(f"{value:.1f}" for value in seeds.values()),
            _("ms"): f"{statistics.fmean(milliseconds[arm].values()):.2f}",
        }
        for arm, seeds in claims.values(records, "accuracy").items()
    ]
    st.table(rows)
    parts = [literal(record["part"]) for record in records if record["arm"] == "found"]
    st.caption(_("Found (layers-heads-neurons), a seed each: {parts}.").format(parts=_(", ").join(parts)))
