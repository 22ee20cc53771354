"""The central picture: every recorded run, a dot a seed, and the reader's own runs among them."""

import streamlit as st

from minibert.experiments.comparisons import cell
from sections.stability.subject import (
    KIND,
    LEARNED,
    Subject,
    correction_names,
    draw_grid,
    every_cell,
    newest_runs,
    scores_of,
    scores_of_runs,
)
from ui.page import drawer, picture
from ui.recorded import command, comparison, recorded, start_choice
from ui.text import literal
from ui.translations import _


def show() -> Subject:
    with drawer():
        start_choice(KIND)
    records = recorded(KIND)
    chance = 100 * records[-1]["majority"] if records else None
    seen = Subject(records, chance)
    with picture():
        if not records:
            with st.container(border=True, key="no-results"):
                st.markdown(_("**No results of this comparison have been recorded here yet.** This makes them:"))
                st.code(command(KIND), "bash")
            return seen
        scores = scores_of(records)
        draw_grid(scores, chance, "recorded", own=scores_of_runs(newest_runs()), title=finding(scores, chance))
    last = records[-1]
    st.caption(
        _(
            "{n} runs of {train:,} reviews, measured on {dev:,}, from {model}; batch {batch}, warm-up 0.1. A star is a "
            "run of yours. Made with: {command}"
        ).format(
            n=sum(map(len, scores.values())),
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            batch=comparison(KIND).base["batch_size"],
            command=f"`{last['command']}`",
        )
    )
    return seen


def finding(scores: dict[str, dict[int, float]], chance: float) -> str:
    """How many runs failed, with bias correction and without."""
    parts = []
    for corrected, name in correction_names().items():
        cells = [cell(*one) for one in every_cell() if one[2] == corrected]
        values = [value for arm in cells for value in scores.get(arm, {}).values()]
        failed = sum(value <= chance + LEARNED for value in values)
        parts.append(_("{name} {failed} of {n}").format(name=name, failed=failed, n=len(values)))
    return _("Runs that failed: {parts}").format(parts=", ".join(parts))
