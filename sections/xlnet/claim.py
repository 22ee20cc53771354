"""The claim: words that belong together, all masked; recorded results, with verdicts."""

import statistics
import tomllib

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from plots.xlnet import by_way
from sections.xlnet.subject import Subject
from ui.claim import PERCENT, made_with, records_of, signed, verdict_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("The claim", title=False)
    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    records = records_of(lesson.name)
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {lesson.name} --seeds 3", "bash")
        the_papers_table(paper)
        return
    ways = {"at_once": _("all at once"), "in_order": _("one after the other")}
    drawn(paper, records, "joint", ways, _("log-probability of the words together, nats"))
    drawn(paper, records, "fits", ways, _("draws whose words go together"), percent=True)
    verdicts(paper, records)
    recorded(records)
    lesson.show("Why it comes out so")
    the_papers_table(paper)


def drawn(paper: dict, records: list[dict], measure: str, ways: dict[str, str], axis: str, *, percent=False) -> None:
    """Results of each arm, predicted all at once and one after the other."""
    found = {way: by_arm(records, f"{measure}_{way}") for way in ways}
    arms = {
        name: {words: list(found[way][arm].values()) for way, words in ways.items() if arm in found[way]}
        for arm, name in paper["arms"].items()
        if any(arm in values for values in found.values())
    }
    means = {
        (name, way): statistics.fmean(values) for name, points in arms.items() for way, values in points.items()
    }  # fmt: skip
    form = (lambda value: f"{value:.0%}") if percent else (lambda value: f"{value:.2f}".replace("-", "−"))
    told = "; ".join(f"{name}, {way}: {form(value)}" for (name, way), value in means.items())
    best = max(means, key=means.get)
    title = _("Best: {name}, {way}: {value}").format(name=best[0], way=best[1], value=form(means[best]))
    table = [
        {_("arm"): name, _("way"): way, _("mean"): form(statistics.fmean(values)),
         _("sd"): form(statistics.stdev(values)) if len(values) > 1 else "–", _("seeds"): len(values)}
        for name, points in arms.items()
        for way, values in points.items()
    ]  # fmt: skip
    figure(
        by_way(arms, axis, title, percent=percent),
        _("{axis}. {told}.").format(axis=axis, told=told),
        f"{measure}-claim",
        data=table,
        wide=True,
    )


def verdicts(paper: dict, records: list[dict]) -> None:
    """Each direction in words: the paper's, ours, and whether they agree."""
    lines, counts = [], {"agrees": 0, "disagrees": 0, "unclear": 0}
    for one in paper["direction"]:
        scale, unit = (1, _("nats")) if one["metric"].startswith("joint") else (PERCENT, _("points"))
        values = [by_arm(records, one[metric]).get(one[arm]) for arm, metric in (("arm", "metric"), ("base", "other"))]
        ours = None
        if all(values):
            ours = paired_difference(*({seed: scale * value for seed, value in found.items()} for found in values))
        said = verdict(ours, one.get("sign"))
        counts[said] = counts.get(said, 0) + 1
        if ours is None:
            here = _("no seed in common here")
        elif ours.half is None:
            here = _("{mean} {unit} here, from a single seed").format(mean=signed(ours.mean), unit=unit)
        else:
            here = _("{mean} ± {half:.1f} {unit} here, over {n} seeds").format(
                mean=signed(ours.mean), half=ours.half, unit=unit, n=ours.seeds
            )
        lines.append(
            _("{what}: {source}; {here} – **{verdict}**").format(
                what=literal(one["what"]), source=literal(one["source"]), here=here, verdict=verdict_words()[said]
            )
        )
    summary = _("Of the paper’s {n} directions ours agree in {same}, disagree in {other}, and leave {open} open.")
    asked = sum("sign" in one for one in paper["direction"])
    summary = summary.format(n=asked, same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
    st.markdown(f"**{summary}**\n\n" + "\n".join(f"- {line}" for line in lines), width=820)


def the_papers_table(paper: dict) -> None:
    """The paper's own ablation, on other tasks than ours."""
    columns = paper["table"]["columns"]
    with st.expander(_("The paper’s ablation"), icon=":material/table:"):
        st.table(
            [
                {_("model"): row["name"], **dict(zip(columns, row["values"], strict=True))}
                for row in paper["table"]["rows"]
            ]
        )  # fmt: skip
        st.caption(literal(paper["table"]["source"]))


def recorded(records: list[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    seeds = len({record["seed"] for record in records})
    st.caption(
        _(
            "Each arm read the same {tokens:,} tokens ({steps:,} steps, {masked:.0%} guessed, {n}) and was asked the "
            "same {groups} groups of words in stories it had not read. Processor seconds: {seconds}. "
            "torch {torch}, {date}. Made with: {command}"
        ).format(
            tokens=max(record["tokens"] for record in records),
            steps=last["steps"],
            masked=scale["masked"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            groups=scale["groups"],
            seconds="; ".join(processor_seconds(records)),
            **made_with(last),
        )
    )


def processor_seconds(records: list[dict]) -> list[str]:
    """Seconds of each arm's last seed, grouped by processor: times on different processors are not comparable."""
    found: dict[str, dict[str, float]] = {}
    for record in records:
        found.setdefault(record["machine"]["processor"], {})[record["arm"]] = record["seconds"]
    return [
        _("{arms} on {processor}").format(
            arms=", ".join(f"{literal(arm)} {seconds:.0f}" for arm, seconds in arms.items()),
            processor=literal(processor),
        )
        for processor, arms in found.items()
    ]
