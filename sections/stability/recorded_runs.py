"""The central picture: every recorded run, one dot per seed, with the user's own runs among them."""

import streamlit as st

from minibert.experiments.comparisons import cell
from minibert.experiments.derived import ABOVE_CHANCE
from sections.stability.subject import (
    KIND,
    Inputs,
    correction_names,
    draw_grid,
    every_cell,
    newest_runs,
    scores_of,
    scores_of_runs,
)
from ui.page import drawer, picture
from ui.predict import predict
from ui.recorded import comparison, recorded, show_missing_results, start_choice
from ui.text import literal
from ui.translations import _

SHARES = (0.0, 1 / 3, 2 / 3, 1.0)  # of failed runs, one per option


def show() -> Inputs:
    with drawer():
        start_choice(KIND)
    records = recorded(KIND)
    chance = 100 * records[-1]["majority"] if records else None
    inputs = Inputs(records, chance)
    with picture():
        if not records:
            show_missing_results(KIND)
            return inputs
        scores = scores_of(records)
        counts = shown = _failed(scores, chance)
        if not _guessed(counts):
            shown = {True: counts[True]}
        drawn = {cell(*one): scores[cell(*one)] for one in every_cell() if one[2] in shown and cell(*one) in scores}
        draw_grid(drawn, chance, "recorded", own=scores_of_runs(newest_runs()), title=finding(shown))
    last = records[-1]
    st.caption(
        _(
            "{n} dots: runs from {model}, each on {train:,} reviews and measured on {dev:,}; batch {batch}, warm-up "
            "0.1. Made with: {command}. Runs of yours are stars among them."
        ).format(
            n=sum(map(len, drawn.values())),
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            batch=comparison(KIND).base["batch_size"],
            command=f"`{last['command']}`",
        )
    )
    return inputs


def _failed(scores: dict[str, dict[int, float]], chance: float) -> dict[bool, tuple[int, int]]:
    """With bias correction (True) or without → (number of failed runs, number of runs)."""
    results = {}
    for corrected in correction_names():
        cells = [cell(*one) for one in every_cell() if one[2] == corrected]
        values = [value for arm in cells for value in scores.get(arm, {}).values()]
        results[corrected] = sum(value <= chance + ABOVE_CHANCE for value in values), len(values)
    return results


def _guessed(failed: dict[bool, tuple[int, int]]) -> bool:
    """Ask how many fail without bias correction; True if those runs may be shown."""
    without, n = failed[False]
    if not (n and failed[True][1]):
        return True
    right = min(range(len(SHARES)), key=lambda i: abs(SHARES[i] - without / n))
    options = [_("hardly any"), _("a third"), _("two thirds"), _("all")]
    return predict("failed", _("Without bias correction, how many fail?"), options, right, about=f"{failed}")


def finding(failed: dict[bool, tuple[int, int]]) -> str:
    names = correction_names()
    parts = [_("{name} {failed} of {n}").format(name=names[one], failed=k, n=n) for one, (k, n) in failed.items()]
    return _("Runs that failed: {parts}").format(parts=_(", ").join(parts))
