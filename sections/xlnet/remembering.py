"""Memory, trained: XLNet with the previous row in memory and without, live and recorded."""

import statistics

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from minibert.folders import CHECKPOINTS
from sections.xlnet.subject import Subject
from ui.claim import PERCENT, made_with, records_of, signed, verdict_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.runs import evals, going, live, manager, own_runs, show_refusal, state_rows, submit, weights_to_begin_with
from ui.translations import _, ngettext

START, KIND, EXPERIMENT = CHECKPOINTS / "xlnet-toy" / "xlnet", "xlnet-memory", "xlnet_memory"


def show(lesson: Lesson, seen: Subject) -> None:
    manager().warm_up()
    lesson.show("With memory and without", title=False)
    train()
    lesson.show("What it is worth")
    recorded()


def arms() -> dict[str, str]:
    return {"alone": _("without memory"), "memory": _("with memory")}


def train() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        steps = st.slider(_("Steps"), 50, 800, 200, 50, key="memory-steps", width=240)
        if st.button(_("Train both"), type="primary", icon=":material/play_arrow:", key="train-memory"):
            begin(int(steps))
    show_refusal()
    runs = {}
    for run in own_runs(KIND):
        runs.setdefault(run.kind.rpartition("/")[2], run)
    if not runs:
        st.markdown(
            _(
                "**No run yet.** Both begin with the page’s XLNet, which has read single rows only, and read the same "
                "stories in rows of 16 words."
            )
        )
        return
    live(tuple(runs[name].id for name in arms() if name in runs), draw, lambda found: state_rows(going(found), speed))


def begin(steps: int) -> None:
    from minibert.toy.segments import SegmentSettings

    for name, title in arms().items():
        submit(
            "minibert.toy.segments:train_on_segments",
            SegmentSettings(steps, name == "memory"),
            weights_to_begin_with(START),
            title=_("XLNet, {arm}").format(arm=title),
            kind=f"{KIND}/{name}",
        )


def speed(step: dict) -> str:
    return _(" · step {step:,} · {speed:,.0f} tokens/s").format(step=step["step"], speed=step["tokens_per_second"])


def draw(runs: list) -> None:
    """Accuracy on words of second rows by step, split by the row that determines them."""
    from plots.to_write import over_steps

    where = {"before": _("told in the row before"), "here": _("told in its own row")}
    lines = {
        f"{run.title}: {words}": [(step, metrics[name]) for step, metrics in evals(run)]
        for name, words in where.items()
        for run in runs
    }
    lines = {name: marks for name, marks in lines.items() if marks}
    if not lines:
        st.caption(_("The stories are being written …"))
        return
    title = _("words of the second row put first")
    last = "; ".join(f"{name} {marks[-1][1]:.0%}" for name, marks in lines.items())
    figure(
        over_steps(lines, (_("step"), title)),
        _("{title}, over the steps. Last: {told}.").format(title=title, told=last),
        "memory-learned",
        data=[
            {_("line"): name, _("step"): step, _("share"): f"{share:.1%}"}
            for name, marks in lines.items()
            for step, share in marks
        ],
        wide=True,
    )


# --- recorded ---------------------------------------------------------------------------------------------------------


def recorded() -> None:
    from plots.to_write import arms_by_measure

    records = records_of(EXPERIMENT)
    if not records:
        with st.container(border=True, key="no-results-memory"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {EXPERIMENT} --seeds 3", "bash")
        return
    found = {name: by_arm(records, name) for name in ("before", "here", "before_forgotten", "here_forgotten")}
    taken = _("with memory, then taken away")
    values = {
        words: {
            **{title: list(found[name][arm].values()) for arm, title in arms().items() if arm in found[name]},
            taken: list(found[f"{name}_forgotten"].get("memory", {}).values()),
        }
        for name, words in (("before", _("Told in the row before")), ("here", _("Told in its own row")))
    }
    said = "; ".join(
        f"{words}: {', '.join(f'{arm} {statistics.fmean(some):.0%}' for arm, some in by.items() if some)}"
        for words, by in values.items()
    )
    figure(
        arms_by_measure(values, _("words of the second row put first, %")),
        _("Words of second rows that are put first. {said}.").format(said=said),
        "memory-recorded",
        data=[
            {
                _("asked"): words,
                _("arm"): arm,
                _("mean"): f"{statistics.fmean(some):.1%}",
                _("sd"): f"{statistics.stdev(some):.1%}" if len(some) > 1 else "–",
            }
            for words, by in values.items()
            for arm, some in by.items()
            if some
        ],
        wide=True,
    )
    gains = [against(found, name, words) for name, words in (("before", True), ("here", False))]
    st.markdown("\n".join(f"- {line}" for line in gains if line), width=820)
    last, seeds = records[-1], len({record["seed"] for record in records})
    st.caption(
        _(
            "A dot a seed, {n}. Each arm goes on from the page’s XLNet for {steps:,} steps, {tokens:,} tokens of the "
            "same rows, and is asked for words of {stories} other stories. {processor}, torch {torch}, {date}. "
            "Made with: {command}"
        ).format(
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            steps=last["steps"],
            tokens=last["tokens"],
            stories=last["scale"]["test"],
            **made_with(last),
        )
    )


def against(found: dict, name: str, expected: bool) -> str:
    """With memory against without, paired by seed, in words. expected: whether the paper predicts a gain there."""
    ours = paired_difference(
        *({seed: PERCENT * value for seed, value in found[name].get(arm, {}).items()} for arm in ("memory", "alone"))
    )
    if ours is None:
        return ""
    spread = "" if ours.half is None else f" ± {ours.half:.1f}"
    gain = _("{mean}{spread} points here").format(mean=signed(ours.mean), spread=spread)
    if expected:
        words = _(
            "Words told in the row before: in the paper’s ablation RACE falls from 66.66 to 65.55 without "
            "memory; {gain} – **{verdict}**"
        )
        return words.format(gain=gain, verdict=verdict_words()[verdict(ours, 1)])
    return _("Words told in their own row: the paper says nothing of them; {gain}").format(gain=gain)
