"""The paper's claim, beside what was measured in the toy world."""

import streamlit as st

from minibert.experiments import claims
from sections.ernie2.stages import Inputs, regimes, tasks
from ui.claim import caption_records, mean_and_sd, recorded_or_hint, show_verdicts
from ui.lesson import Lesson
from ui.translations import _

EXPERIMENT = "ernie2"


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    if not (records := recorded_or_hint(EXPERIMENT)):
        return
    results = {words: claims.values(records, metric) for metric, words in {**tasks(), "mean": _("mean")}.items()}
    rows = [
        {_("way"): title, **{words: mean_and_sd(values.get(arm, {}).values()) for words, values in results.items()}}
        for arm, title in regimes().items()
    ]
    show_verdicts(claims.judged(EXPERIMENT, records), regimes())
    words = _(
        "Means over the seeds and one standard deviation, in percent, on {asked:,} questions of each task about "
        "stories that were not learned from. Every way reads the same batches in another order: {tokens:,} tokens in "
        "{steps:,} steps."
    )
    with st.expander(_("All that was measured")):
        st.table(rows)
        caption_records(records, words, asked=records[-1]["scale"]["asked"])
