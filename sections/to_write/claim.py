"""The claims and our recorded results: UniLM writes and still predicts masked words; a detector helps correction."""

import statistics
import tomllib

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from sections.to_write.subject import Subject
from ui.claim import PERCENT, made_with, records_of, signed, verdict_words
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def claims() -> dict[str, str]:
    return {
        "to_write": _("UniLM against BERT"),
        "corrector": _("The corrector"),
        "corrector_zh": _("The corrector in Chinese"),
    }


def measures() -> dict[str, str]:
    return {
        "answers": _("questions answered right, in a sentence"),
        "next_word": _("the next word put first, from what is before it"),
        "determined": _("a hidden word put first, read from both sides"),
        "detection_f1": _("sentences whose errors were found, F1"),
        "correction_f1": _("sentences corrected, F1"),
    }


def show(lesson: Lesson, seen: Subject) -> None:
    from plots.to_write import arms_by_measure

    lesson.show("The claim", title=False)
    name = choice("claim", _("The claim"), claims(), wrap=True, bare=True)
    papers = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    paper = papers[name.removesuffix("_zh")]  # one paper, tested in two languages
    records = records_of(name)
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {name} --seeds 3", "bash")
        return
    found = {metric: by_arm(records, metric) for metric in measures()}
    found = {
        metric: {paper["arms"][arm]: list(seeds.values()) for arm, seeds in arms.items() if arm in paper["arms"]}
        for metric, arms in found.items()
        if arms
    }
    table = [
        {
            _("measure"): measures()[metric],
            _("arm"): arm,
            _("mean"): f"{PERCENT * statistics.fmean(values):.1f}",
            _("sd"): f"{PERCENT * statistics.stdev(values):.1f}" if len(values) > 1 else "–",
            _("seeds"): len(values),
        }
        for metric, arms in found.items()
        for arm, values in arms.items()
    ]
    told = "; ".join(f"{row[_('measure')]}, {row[_('arm')]}: {row[_('mean')]} ± {row[_('sd')]}" for row in table)
    shown = {measures()[metric]: arms for metric, arms in found.items()}
    figure(arms_by_measure(shown, _("percent")), told + ".", "scores-claim", data=table, wide=True)
    verdicts(paper, records)
    recorded(records)
    lesson.show("Why it comes out so" if name == "to_write" else "Why the detector")


def verdicts(paper: dict, records: list[dict]) -> None:
    """Each direction in words: the paper's, ours, and whether they agree."""
    lines, counts = [], {"agrees": 0, "disagrees": 0, "unclear": 0}
    for one in paper["direction"]:
        values = by_arm(records, one["metric"])
        ours = None
        if one["arm"] in values and one["base"] in values:
            percents = [{s: PERCENT * v for s, v in values[arm].items()} for arm in (one["arm"], one["base"])]
            ours = paired_difference(*percents)
        said = verdict(ours, one.get("sign"))
        counts[said] = counts.get(said, 0) + 1
        if ours is None:
            here = _("no seed in common here")
        elif ours.half is None:
            here = _("{mean} points here, from a single seed").format(mean=signed(ours.mean))
        else:
            here = _("{mean} ± {half:.1f} points here, over {n} seeds").format(
                mean=signed(ours.mean), half=ours.half, n=ours.seeds
            )
        lines.append(
            _("{what}, {arm} against {base}: {source}; {here} – **{verdict}**").format(
                what=measures()[one["metric"]], arm=literal(paper["arms"][one["arm"]]),
                base=literal(paper["arms"][one["base"]]), source=literal(one["source"]), here=here,
                verdict=verdict_words()[said],
            )
        )  # fmt: skip
    summary = _("Of the papers’ {n} directions ours agree in {same}, disagree in {other}, and leave {open} open.")
    asked = sum("sign" in one for one in paper["direction"])
    summary = summary.format(n=asked, same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
    st.markdown(f"**{summary}**\n\n" + "\n".join(f"- {line}" for line in lines), width=820)


def recorded(records: list[dict]) -> None:
    last = records[-1]
    seeds = len({record["seed"] for record in records})
    st.caption(
        _("Each arm read {tokens:,} tokens in {steps:,} steps ({n}). "
          "Processor seconds, all in all: {seconds}. {processor}, torch {torch}, {date}. Made with: {command}").format(
            tokens=max(record["tokens"] for record in records),
            steps=last["steps"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            seconds=", ".join(
                f"{literal(record['arm'])} {record['seconds'] + record['finetuning_seconds']:.0f}"
                for record in {record["arm"]: record for record in records}.values()
            ),
            **made_with(last),
        )
    )  # fmt: skip
