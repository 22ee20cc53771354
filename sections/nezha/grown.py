"""Large batches, recorded: AdamW and LAMB after the same number of rows, by batch size."""

import statistics
import tomllib

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from sections.nezha.subject import Subject
from ui.claim import made_with, records_of, verdict_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _, ngettext

EXPERIMENT, NAMES = "lamb", {"adamw": "AdamW", "lamb": "LAMB"}


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("As the batch grows", title=False)
    recorded(lesson)
    lesson.show("What the batch costs")


def recorded(lesson: Lesson) -> None:
    from plots.nezha import OPTIMIZERS, over_lengths

    records = records_of(EXPERIMENT)
    if not records:
        with st.container(border=True, key="no-results-lamb"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {EXPERIMENT} --seeds 3", "bash")
        return
    found, arms = by_arm(records, "loss"), {}
    for arm, seeds in found.items():
        arms.setdefault(_title(arm), {})[rows_of(arm)] = list(seeds.values())
    table = [
        {
            _("optimizer"): name,
            **{f"{rows:,}": f"{statistics.fmean(some):.2f} ± {_spread(some):.2f}" for rows, some in points.items()},
        }
        for name, points in arms.items()
    ]
    told = "; ".join(
        f"{name}: {', '.join(f'{rows:,} {statistics.fmean(values):.2f}' for rows, values in points.items())}"
        for name, points in arms.items()
    )
    axes = _("rows a batch"), _("loss on stories not read, nats a word")
    figure(
        over_lengths(arms, None, axes, number=".2f", looks=OPTIMIZERS),
        _("The loss at the end, after as many rows, as the batch grows. {told}.").format(told=told),
        "batches-recorded",
        data=table,
        wide=True,
    )
    st.markdown("\n".join(f"- {line}" for line in verdicts(lesson, found)), width=820)
    last = records[-1]
    seeds = len({record["seed"] for record in records})
    st.caption(
        _(
            "A dot a seed, mean and standard deviation, {n}. Every arm read {read:,} rows of at most 32 tokens. By the "
            "rule the rate is √(rows / 32) times the one that was best in batches of 32; searched for anew, it is the "
            "best in batches of 512: of four each time, a factor of 2 apart, for each optimizer. {processor}, torch "
            "{torch}, {date}. Made with: {command}"
        ).format(
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            read=last["scale"]["rows_read"],
            **made_with(last),
        )
    )


def rows_of(arm: str) -> int:
    return int(arm.split("-")[1])


def _title(arm: str) -> str:
    optimizer, _rows, *how = arm.split("-")
    return _("{optimizer}, rate searched for anew").format(optimizer=NAMES[optimizer]) if how else NAMES[optimizer]


def _spread(values: list[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


def verdicts(lesson: Lesson, found: dict[str, dict[int, float]]) -> list[str]:
    """Each direction of the paper beside ours, in words. A lower loss is better, so LAMB's gain is AdamW's loss minus
    LAMB's. `same` in the file: the paper reports no difference."""
    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))["batches"]
    lines = []
    for one in paper:
        gain = paired_difference(found.get(one["base"], {}), found.get(one["arm"], {}))
        if gain is None:
            here, said = _("no seed in common here"), verdict(None, one.get("sign"))
        else:
            spread = "" if gain.half is None else f" ± {gain.half:.2f}"
            here = _("{mean:+.2f}{spread} nats here, over {n}").format(
                mean=gain.mean, spread=spread, n=ngettext("{n} seed", "{n} seeds", gain.seeds).format(n=gain.seeds)
            )
            said = verdict(gain, one.get("sign"))
        if one.get("same"):
            said = "disagrees" if gain is not None and gain.clear else "unclear"
        lines.append(
            _("{question}: {source}; {here} – **{verdict}**").format(
                question=one["question"],
                source=one["source"],
                here=here.replace("-", "−"),
                verdict=verdict_words()[said],
            )
        )
    return lines
