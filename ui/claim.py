"""A paper's claim about a relative of BERT beside our recorded experiment: each arm, each difference, a verdict."""

import statistics
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS, REQUIRED
from minibert.experiments.results import (
    Difference,
    ResultsError,
    by_arm,
    paired_difference,
    read_records,
    verdict,
)
from minibert.folders import results_to_read
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext

PERCENT = 100


@dataclass(frozen=True)
class Direction:
    """Difference between an arm and the base arm, in the paper and in our runs, and whether the signs agree."""

    arm: str
    paper: float
    ours: Difference | None

    @property
    def verdict(self) -> str:
        return verdict(self.ours, self.paper)


def verdict_words() -> dict[str, str]:
    return {
        "agrees": _("agrees"),
        "disagrees": _("disagrees"),
        "unclear": _("unclear: within the spread of the seeds"),
        "no difference in the paper": _("no difference in the paper"),
        "not in the paper": _("no number in the paper"),
    }


def made_with(record: dict) -> dict[str, str]:
    """How a record was made, as escaped Markdown: processor, torch, date, command."""
    machine = {name: literal(record["machine"][name]) for name in ("processor", "torch", "date")}
    return {**machine, "command": f"`{record['command']}`"}


def records_of(name: str) -> list[dict]:
    """Records made at the same scale as the newest one; [] if there are none or the file cannot be read."""
    try:
        records = read_records(results_to_read(f"{name}.jsonl"), REQUIRED)
    except (ResultsError, OSError) as error:
        st.error(literal(error), icon=":material/error:")
        return []
    return [record for record in records if record["scale"] == records[-1]["scale"]]


def directions(paper: dict, found: dict[str, dict[int, float]]) -> list[Direction]:
    """Each arm of the paper that has a value, compared with the paper's first arm."""
    values = paper["values"]
    base = next(iter(paper["arms"]))
    return [
        Direction(
            arm,
            round(values[arm] - values[base], 6),
            paired_difference(found[arm], found[base]) if arm in found and base in found else None,
        )
        for arm in paper["arms"]
        if arm != base and arm in values
    ]


def show_claim(
    lesson: Lesson,
    measure: str,
    title: str,
    claim: str | None = None,
    made: Callable[[list[dict]], None] | None = None,
) -> None:
    """Show the numbers in `lesson`'s paper.toml beside the experiment of the same name. measure: a metric of its
    records, in [0, 1], shown as `title` · claim: the table of paper.toml if it has several · made(records): writes how
    the records were made, if not by pre-training on toy-world stories."""
    from plots.experiments import Gap, Score, differences, scores

    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    paper = paper if claim is None else paper[claim]
    records = records_of(lesson.name)
    found = {arm: {seed: PERCENT * value for seed, value in seeds.items()} for arm, seeds in
             by_arm(records, measure).items()}  # fmt: skip
    names = paper["arms"]
    rows = [Score(names[arm], paper["values"].get(arm), found.get(arm, {})) for arm in names]
    table = [
        {
            _("arm"): row.name,
            _("paper"): "–" if row.paper is None else f"{row.paper:g}",
            _("ours, mean"): f"{statistics.fmean(row.ours.values()):.1f}" if row.ours else "–",
            _("sd"): f"{statistics.stdev(row.ours.values()):.1f}" if len(row.ours) > 1 else "–",
            _("seeds"): len(row.ours),
        }
        for row in rows
    ]
    told = "; ".join(
        _("{arm}: paper {paper}, ours {ours} ± {sd}").format(
            arm=row[_("arm")], paper=row[_("paper")], ours=row[_("ours, mean")], sd=row[_("sd")]
        )
        for row in table
    )
    fig = scores(rows, (_("The paper"), _("Ours")), (paper["column"], title), _("seed"), high=52)
    figure(fig, _("{theirs} in the paper beside {ours} here, by arm. {told}.").format(
        theirs=paper["column"], ours=title, told=told), "scores-claim", data=table, wide=True)  # fmt: skip
    st.caption(
        _(
            "Left: {source}. Right: a dot is a seed, the line their mean, the bar one standard deviation; the scales "
            "differ."
        ).format(source=literal(paper["source"]))
    )
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {lesson.name} --seeds 3", "bash")
        return
    compared = directions(paper, found)
    gaps = [
        Gap(names[one.arm], one.paper, getattr(one.ours, "mean", None), getattr(one.ours, "half", None), one.verdict)
        for one in compared
    ]  # fmt: skip
    base = literal(next(iter(names.values())))
    sentences = [sentence(names[one.arm], one) for one in compared]
    counts = Counter(one.verdict for one in compared)
    summary = _("Of the paper’s {n} directions ours agree in {same}, disagree in {other}, and leave {open} open.")
    summary = summary.format(n=len(compared), same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
    st.markdown("### " + _("Difference to {base}").format(base=base))
    figure(
        differences(gaps, (_("the paper"), _("ours, with 95 % interval")), _("points")),
        _("Differences between arms, the paper’s and ours. {summary}").format(summary=summary),
        "differences-claim",
        wide=True,
    )
    st.markdown(f"**{summary}**\n\n" + "\n".join(f"- {words}" for words in sentences), width=820)
    (made or scaled_down)([record for record in records if record["arm"] in names])


def sentence(name: str, one: Direction) -> str:
    """One direction in words."""
    theirs, ours = signed(one.paper), one.ours
    if ours is None:
        here = _("no seed in common here")
    elif ours.half is None:
        here = _("{mean} here, from a single seed").format(mean=signed(ours.mean))
    else:
        here = _("{mean} ± {half:.1f} here, over {n} seeds").format(
            mean=signed(ours.mean), half=ours.half, n=ours.seeds
        )
    return _("{arm}: {theirs} in the paper, {here} – **{verdict}**").format(
        arm=literal(name), theirs=theirs, here=here, verdict=verdict_words()[one.verdict]
    )


def signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def scaled_down(records: list[dict]) -> None:
    """Caption: how much the arms were trained on, how long it took, and the command."""
    last, scale = records[-1], records[-1]["scale"]
    tokens = sorted({f"{record['tokens']:,}" for record in records}, key=lambda number: (len(number), number))
    seeds = len({record["seed"] for record in records})
    most = {record["arm"]: record["seconds"] for record in records}
    title = RELATIVE_EXPERIMENTS[last["experiment"]].title
    st.caption(
        _(
            "{title}. Every arm reads the same stories, {tokens} tokens ({steps:,} steps, {masked:.0%} hidden; {n}), "
            "then learns from {train:,} stories whom each pronoun means and is measured on {test:,} others. Processor "
            "seconds of pre-training: {seconds}. {processor}, torch {torch}, {date}. Made with: {command}"
        ).format(
            title=literal(title),
            tokens=tokens[0] if len(tokens) == 1 else _("{least} to {most}").format(least=tokens[0], most=tokens[-1]),
            steps=last["steps"],
            masked=scale["masked"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            train=scale["train"],
            test=scale["test"],
            seconds=", ".join(f"{literal(arm)} {seconds:.0f}" for arm, seconds in most.items()),
            **made_with(last),
        )
    )
