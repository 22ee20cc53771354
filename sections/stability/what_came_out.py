"""Findings of the recorded runs: failures, spread, and the effect of the seed."""

import statistics

import streamlit as st

from minibert.experiments.comparisons import cell
from minibert.experiments.derived import ABOVE_CHANCE
from sections.stability.subject import Inputs, correction_names, every_cell, scores_of
from ui.claim import show_claims
from ui.lesson import Lesson
from ui.text import one_by_one
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    if inputs.records:
        st.markdown(failures(scores_of(inputs.records), inputs.chance), width=820)
        show_claims("stability", inputs.records)
    lesson.show("What came out")
    lesson.show("What a seed decides")
    lesson.show("What helps")


def failures(scores: dict[str, dict[int, float]], chance: float) -> str:
    """How many runs failed with and without correction, and the spread within a cell of those that did not."""
    sentences = []
    for corrected, name in correction_names().items():
        cells = [
            list(scores.get(cell(epochs, rate, corrected), {}).values())
            for epochs, rate, with_it in every_cell()
            if with_it == corrected
        ]
        learned = [[value for value in values if value > chance + ABOVE_CHANCE] for values in cells]
        spreads = [statistics.stdev(values) for values in learned if len(values) > 1]
        runs = sum(map(len, cells))
        sentence = _("**{name}**: {failed} of {n} runs failed").format(
            name=name.capitalize(), failed=runs - sum(map(len, learned)), n=runs
        )
        if spreads:
            sentence += _("; those that learned scatter by {sd:.1f} points within a cell, on average").format(
                sd=statistics.fmean(spreads)
            )
        sentences.append(sentence + _("."))
    sentences.append(
        _("A run counts as failed when it is at most {points:g} point above the commonest class.").format(
            points=ABOVE_CHANCE
        )
    )
    return one_by_one(*sentences)
