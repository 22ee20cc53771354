"""Memory, trained: XLNet with the previous row in memory and without, live and recorded."""

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from minibert.folders import CHECKPOINTS
from sections.xlnet.subject import Inputs
from ui.claim import caption_records, floors_of, recorded_or_hint, show_by_measure, show_verdicts
from ui.lesson import Lesson
from ui.live_runs import follow_runs, newest_of_each, show_over_steps
from ui.runs import evals, manager, show_refusal, submit, weights_to_begin_with
from ui.translations import _, pgettext

START, KIND, EXPERIMENT = CHECKPOINTS / "xlnet-toy" / "xlnet", "xlnet-memory", "xlnet_memory"


def show(lesson: Lesson, inputs: Inputs) -> None:
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
    hint = _(
        "**No run yet.** Both begin with the page’s XLNet, which has read single rows only, and read the same "
        "stories in rows of 16 words."
    )
    follow_runs(newest_of_each(KIND, arms()), draw, hint)


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


def draw(runs: list) -> None:
    """Accuracy on words of second rows by step, split by the row that determines them."""
    where = {"before": _("determined by the row before"), "here": _("determined by its own row")}
    lines = {
        f"{run.title}{_(': ')}{words}": [(step, metrics[name]) for step, metrics in evals(run)]
        for name, words in where.items()
        for run in runs
    }
    if not (lines := {name: points for name, points in lines.items() if points}):
        st.caption(_("The stories are being written …"))
        return
    title = _("words of the second row ranked first")
    alt = _("{title}, over the steps. Last: {told}.").format(title=title, told="{told}")
    show_over_steps(
        lines, title, alt, "memory-learned", name=pgettext("in a chart", "line"), value=_("share"), wide=True
    )


# --- recorded ---------------------------------------------------------------------------------------------------------


def recorded() -> None:
    if not (records := recorded_or_hint(EXPERIMENT)):
        return
    results = {name: by_arm(records, name) for name in ("before", "here", "before_forgotten", "here_forgotten")}
    taken = _("with memory, then taken away")
    measures = {"before": _("Told in the row before"), "here": _("Told in its own row")}
    values = {
        words: {
            **{title: list(results[name][arm].values()) for arm, title in arms().items() if arm in results[name]},
            taken: list(results[f"{name}_forgotten"].get("memory", {}).values()),
        }
        for name, words in measures.items()
    }
    floors = floors_of(EXPERIMENT, measures, records)
    show_by_measure(values, _("words of the second row ranked first, %"), "memory-recorded", floors)
    show_verdicts(claims.judged(EXPERIMENT, records), arms())
    words = _(
        "A dot a seed, {n}. Each arm goes on from the page’s XLNet for {steps:,} steps, {tokens:,} tokens of the same "
        "rows, and is tested on words of {stories} other stories."
    )
    caption_records(records, words, tokens=records[-1]["tokens"], stories=records[-1]["scale"]["test"])
