"""The claims of WKLM, SemBERT and ERNIE (Tsinghua), each beside its recorded results here."""

import statistics
import tomllib

import streamlit as st

from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.results import Difference, by_arm, paired_difference, verdict
from sections.knowledge.subject import Subject
from ui.claim import PERCENT, made_with, records_of, signed, verdict_words
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, seen: Subject) -> None:
    papers = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    lesson.show("The claim", title=False)
    name = choice("claim", _("Whose claim"), {key: paper["title"] for key, paper in papers.items()}, wrap=True)
    paper, records = papers[name], records_of(name)
    if not records:
        with st.container(border=True, key=f"no-results-{name}"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {name} --seeds 3", "bash")
        return
    drawn(name, paper, records)
    verdicts(name, paper, records)
    lesson.show(f"What came out: {paper['title']}")
    recorded(records)


def drawn(name: str, paper: dict, records: list[dict]) -> None:
    """One panel per measure: one dot per seed of each arm, a line at the mean."""
    from plots.to_write import arms_by_measure

    values = {}
    for metric, words in paper["measures"].items():
        found = by_arm(records, metric)
        values[words] = {title: list(found[arm].values()) for arm, title in paper["arms"].items() if arm in found}
    said = "; ".join(
        f"{words}: {', '.join(f'{arm} {statistics.fmean(some):.0%}' for arm, some in by.items())}"
        for words, by in values.items()
    )
    figure(
        arms_by_measure(values, paper["axis"]),
        _("{axis}. {told}.").format(axis=paper["axis"], told=said),
        f"claim-{name}",
        data=[
            {
                _("asked"): words, _("arm"): arm, _("mean"): f"{statistics.fmean(some):.1%}",
                _("sd"): f"{statistics.stdev(some):.1%}" if len(some) > 1 else "–", _("seeds"): len(some),
            }
            for words, by in values.items() for arm, some in by.items()
        ],
        wide=True,
    )  # fmt: skip


def compared(records: list[dict], one: dict) -> Difference | None:
    """A direction's arm minus its base, paired by seed, in points."""
    values = {
        arm: {seed: PERCENT * value for seed, value in seeds.items()}
        for arm, seeds in by_arm(records, one["metric"]).items()
    }
    return paired_difference(values.get(one["arm"], {}), values.get(one["base"], {}))


def verdicts(name: str, paper: dict, records: list[dict]) -> None:
    """For each direction: our difference with its interval, the paper's direction, and whether they agree."""
    from plots.experiments import Gap, differences

    ours = [(one, compared(records, one)) for one in paper["direction"]]
    said = [verdict(gap, one.get("sign")) for one, gap in ours]
    arms, lines, gaps = paper["arms"], [], []
    for (one, gap), word in zip(ours, said, strict=True):
        if gap is None:
            continue
        gaps.append(Gap(f"{len(gaps) + 1}. {arms[one['arm']]}", None, gap.mean, gap.half, word))
        lines.append(
            _("{what}, against “{base}”: {mean}{spread} points, {n} ({source}) – **{verdict}**").format(
                what=literal(one["what"]), base=literal(arms[one["base"]]), mean=signed(gap.mean),
                spread="" if gap.half is None else f" ± {gap.half:.1f}",
                n=ngettext("{n} seed", "{n} seeds", gap.seeds).format(n=gap.seeds),
                source=literal(one["source"]), verdict=verdict_words()[word],
            )
        )  # fmt: skip
    counts = {word: said.count(word) for word in ("agrees", "disagrees", "unclear")}
    summary = _("Of {n} directions of the paper {same} agree here, {other} disagree, {open} stay open.").format(
        n=sum("sign" in one for one, _gap in ours), same=counts["agrees"], other=counts["disagrees"],
        open=counts["unclear"],
    )  # fmt: skip
    figure(
        differences(gaps, ("", _("ours, with 95 % interval")), _("points")),
        _("Differences between arms, seed by seed. {summary}").format(summary=summary),
        f"gaps-{name}", wide=True,
    )  # fmt: skip
    st.markdown(
        f"**{summary}**\n\n" + "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)), width=820
    )


def recorded(records: list[dict]) -> None:
    last, seeds = records[-1], len({record["seed"] for record in records})
    st.caption(
        _("{title}. A dot a seed, {n}. Each arm goes on from `{begins}` for {steps:,} steps on the same stories and is "
          "measured on others. {processor}, torch {torch}, {date}. Made with: {command}").format(
            title=literal(RELATIVE_EXPERIMENTS[last["experiment"]].title),
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds), begins=last["scale"]["begins_with"],
            steps=last["steps"], **made_with(last),
        )
    )  # fmt: skip
