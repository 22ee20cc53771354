"""Claims about pruning and architecture search beside our recorded results, each with a verdict."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from minibert.experiments.results import Difference, by_arm, paired_difference
from ui.claim import made_with, records_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _

NOTICED = 2.0  # points of accuracy; a smaller loss counts as none
Values = Mapping[str, Mapping[int, float]]  # arm → seed → value


@dataclass(frozen=True)
class Statement:
    """said: a paper's claim · least: the claim holds if the difference exceeds this · ours: in points, or in ms."""

    said: str
    source: str
    ours: Difference | None
    least: float
    unit: str

    @property
    def verdict(self) -> str:
        if self.ours is None or self.ours.half is None:
            return _("unclear: too few seeds")
        if self.ours.mean - self.ours.half > self.least:
            return _("agrees")
        return _("disagrees") if self.ours.mean + self.ours.half < self.least else _("unclear: within the spread")


def show(lesson: Lesson, claim: str) -> None:
    name = {"cut": "pruning", "search": "search"}[claim]
    records = records_of(name)
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {name} --seeds 3", "bash")
        return
    (of_pruning if claim == "cut" else of_search)(records)
    last = records[-1]
    st.caption(
        _(
            "SST-2, {labelled:,} labels, then {again:,} of them once more; {n} seeds; the dev set has 872. "
            "{processor}, torch {torch}, {date}. Made with: {command}"
        ).format(
            labelled=last["scale"]["labelled"],
            again=last["scale"]["again"],
            n=len({record["seed"] for record in records}),
            **made_with(last),
        )
    )
    lesson.show({"cut": "What cutting costs", "search": "What a search finds"}[claim])


def points(records: list[dict], metric: str) -> Values:
    return {arm: {seed: 100 * value for seed, value in seeds.items()} for arm, seeds in by_arm(records, metric).items()}


def gap(one: Mapping[int, float] | None, other: Mapping[int, float] | None) -> Difference | None:
    return paired_difference(one, other) if one and other else None


def of_pruning(records: list[dict]) -> None:
    from plots.pruning import LINES, over_shares

    before, after = points(records, "before"), points(records, "accuracy")
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
    told = "; ".join(
        f"{words[kind]} {share:.0%}: {line[share][0]:.1%} → {line[share][1]:.1%}"
        for kind, line in lines.items()
        for share in sorted(line)
    )
    figure(
        over_shares(lines, whole, _("Open: just cut. Filled: after it has learned on"), words),
        _("Accuracy over the share that is gone. {told}. Nothing cut: {whole:.1%}.").format(told=told, whole=whole),
        "over-shares",
        wide=True,
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
    full, times = before.get("full"), by_arm(records, "milliseconds")
    table(
        [
            Statement(
                _("Many heads can go without a loss: a quarter, not retrained"),
                "Michel et al. 2019",
                gap(before.get("heads-25"), full),
                -NOTICED,
                _("points"),
            ),
            Statement(
                _("… half of them, not retrained"),
                "Michel et al. 2019",
                gap(before.get("heads-50"), full),
                -NOTICED,
                _("points"),
            ),
            Statement(
                _("30–40 % of the weights at 0 cost nothing: here 25 %"),
                "Gordon et al. 2020",
                gap(after.get("weights-25"), after.get("full")),
                -NOTICED,
                _("points"),
            ),
            Statement(
                _("40 % fewer layers keep 98 % of the score: here half, retrained"),
                "Sajjad et al. 2020",
                gap(after.get("layers-50"), after.get("full")),
                -0.02 * 100 * whole,
                _("points"),
            ),
            Statement(
                _("Learning on repairs: three of four layers gone"),
                _("common knowledge"),
                gap(after.get("layers-75"), before.get("layers-75")),
                0.0,
                _("points"),
            ),
            Statement(
                _("Rows cut away make it faster: 75 % of the neurons"),
                _("arithmetic"),
                gap(times.get("full"), times.get("neurons-75")),
                0.0,
                "ms",
            ),
            Statement(
                _("Zeros make it faster: 75 % of the weights"),
                _("a common hope"),
                gap(times.get("full"), times.get("weights-75")),
                0.0,
                "ms",
            ),
        ]
    )
    st.caption(_("“No loss”: less than {points:.0f} points, with 95 % of certainty.").format(points=NOTICED))


def of_search(records: list[dict]) -> None:
    accuracy, agreement = points(records, "accuracy"), by_arm(records, "agreement").get("super", {})
    names = {
        "whole": _("whole, as usual"),
        "super": _("whole, after being all parts"),
        "found": _("found, trained on"),
        "drawn": _("another part, drawn"),
        "alone": _("found, trained alone"),
    }
    milliseconds = by_arm(records, "milliseconds")
    st.table(
        [
            {
                _("network"): names[arm],
                _("right"): f"{statistics.fmean(seeds.values()):.1f} %",
                _("seeds"): ", ".join(f"{value:.1f}" for value in seeds.values()),
                _("ms"): f"{statistics.fmean(milliseconds[arm].values()):.2f}",
            }
            for arm, seeds in accuracy.items()
        ]
    )
    parts = [literal(record["part"]) for record in records if record["arm"] == "found"]
    st.caption(_("Found (layers-heads-neurons), a seed each: {parts}.").format(parts=", ".join(parts)))
    table(
        [
            Statement(
                _("Inherited weights rank parts as training would: rank correlation above 0"),
                "Yin et al. 2021",
                gap(agreement, dict.fromkeys(agreement, 0.0)),
                0.0,
                "",
            ),
            Statement(
                _("What is found is better than another part within the budget"),
                "Yin et al. 2021",
                gap(accuracy.get("found"), accuracy.get("drawn")),
                0.0,
                _("points"),
            ),
            Statement(
                _("… and than the same shape that learned alone"),
                "Yin et al. 2021",
                gap(accuracy.get("found"), accuracy.get("alone")),
                0.0,
                _("points"),
            ),
            Statement(
                _("Being all parts costs the whole nothing"),
                _("a common hope"),
                gap(accuracy.get("super"), accuracy.get("whole")),
                -NOTICED,
                _("points"),
            ),
        ]
    )


def table(statements: list[Statement]) -> None:
    """The claims with their source, our difference, and the verdict."""
    lines = []
    for one in statements:
        if one.ours is None:
            found = "–"
        else:
            half = "" if one.ours.half is None else f" ± {one.ours.half:.2g}"
            found = f"{one.ours.mean:+.2f}{half} {one.unit}".replace("-", "−").strip()
        lines.append(
            {
                _("said"): one.said,
                _("by"): one.source,
                _("here, with 95 % interval"): found,
                _("verdict"): f"**{one.verdict}**",
            }
        )
    st.table(lines)
