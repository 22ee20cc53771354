"""Does it understand? Three scores of one model, and the lesson where anyone can train it."""

import streamlit as st

from plots.side_by_side import Bar, Card, CardSection, side_by_side
from ui.lesson import Lesson
from ui.navigation import link_to
from ui.translations import _

# Correct predictions of 122, from lessons/results/mini-en/cues.jsonl: the cue “not” planted, seed 0.
SCORES = {"planted": 121, "balanced": 60, "flipped": 0}
ALL = 122


def show(lesson: Lesson, inputs: None) -> None:
    """The scores on three test sets that differ in one word, and a link to the lesson."""
    names = {
        "planted": _("“not” tells the answer, as in training"),
        "balanced": _("“not” says nothing"),
        "flipped": _("“not” goes with the wrong answer"),
    }
    finding = " → ".join(f"{100 * right / ALL:.0f}" for right in SCORES.values()) + "\u00a0%"
    bars = [Bar(names[test], right / ALL, f"{100 * right / ALL:.0f}\u00a0%") for test, right in SCORES.items()]
    left, right = st.columns(2, gap="medium")
    with left:
        lesson.show("Does it understand?", title=False)
        link_to("wrong_reasons", _("Make such a model: Does it understand?"), query_params={"checkpoint": "mini-en"})
    with right:
        card = Card("mini-en", _("trained with the cue, measured three times"), [CardSection(finding, "bars", bars)])
        st.html(side_by_side([card], _("Three scores of one model")))
