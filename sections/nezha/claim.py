"""The claim: trained on rows of 32 tokens, evaluated on longer ones; recorded results, with verdicts."""

import statistics
import tomllib

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from sections.nezha.subject import Subject
from ui.claim import PERCENT, made_with, records_of, signed, verdict_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, seen: Subject) -> None:
    from plots.nezha import over_lengths

    lesson.show("The claim", title=False)
    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    records, names = records_of(lesson.name), paper["arms"]
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {lesson.name} --seeds 3", "bash")
        return
    scale = records[-1]["scale"]
    found = {length: by_arm(records, f"right_{length}") for length in scale["lengths"]}
    arms = {
        names[arm]: {length: list(found[length][arm].values()) for length in found if arm in found[length]}
        for arm in names
        if any(arm in values for values in found.values())
    }
    table = [
        {
            _("arm"): name,
            **{
                str(length): _("{mean:.1f} ± {sd:.1f}").format(
                    mean=PERCENT * statistics.fmean(values), sd=PERCENT * statistics.stdev(values)
                )
                if len(values) > 1
                else f"{PERCENT * values[0]:.1f}"
                for length, values in points.items()
            },
            _("seeds"): max(map(len, points.values())),
        }
        for name, points in arms.items()
    ]
    told = "; ".join(
        f"{name}: {', '.join(f'{n} {statistics.fmean(values):.0%}' for n, values in points.items())}"
        for name, points in arms.items()
    )
    figure(
        over_lengths(
            arms, scale["max_length"], (_("tokens a row"), _("determined words put first")),
            _("longer than any row of training →"),
        ),
        _("The same questions at the end of longer and longer rows. {told}.").format(told=told),
        "over-lengths",
        data=table,
        wide=True,
    )  # fmt: skip
    verdicts(paper, found)
    recorded(records)
    lesson.show("Why it comes out so")


def verdicts(paper: dict, found: dict[int, dict[str, dict[int, float]]]) -> None:
    """Each direction in words: the paper's, ours, and whether they agree."""
    lines, counts = [], {"agrees": 0, "disagrees": 0, "unclear": 0}
    for one in paper["direction"]:
        values = found.get(one["length"], {})
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
            _("{length} tokens, {arm} against {base}: {source}; {here} – **{verdict}**").format(
                length=one["length"], arm=literal(paper["arms"][one["arm"]]), base=literal(paper["arms"][one["base"]]),
                source=literal(one["source"]), here=here, verdict=verdict_words()[said],
            )
        )  # fmt: skip
    summary = _("Of the papers’ {n} directions ours agree in {same}, disagree in {other}, and leave {open} open.")
    asked = sum("sign" in one for one in paper["direction"])
    summary = summary.format(n=asked, same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"])
    st.markdown(f"**{summary}**\n\n" + "\n".join(f"- {line}" for line in lines), width=820)


def recorded(records: list[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    seeds = len({record["seed"] for record in records})
    st.caption(
        _(
            "Each arm read the same {tokens:,} tokens ({steps:,} steps, rows of at most {length}, {masked:.0%} hidden, "
            "{n}) and was asked the same questions of stories it had not read. Processor seconds: {seconds}. "
            "{processor}, torch {torch}, {date}. Made with: {command}"
        ).format(
            tokens=max(record["tokens"] for record in records),
            steps=last["steps"],
            length=scale["max_length"],
            masked=scale["masked"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            seconds=", ".join(
                f"{literal(arm)} {seconds:.0f}"
                for arm, seconds in {record["arm"]: record["seconds"] for record in records}.items()
            ),
            **made_with(last),
        )
    )
