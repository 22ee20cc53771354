"""The data sets: the same sentences with a cue planted, balanced or flipped."""

import streamlit as st

from sections.wrong_reasons.subject import sets_of, test_names
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, cue: str) -> None:
    """Two examples of each class, and how often each class has the cue."""
    lesson.show("Plant a cue", level=3)
    task, _trainings, tests = sets_of(cue)
    shown = choice("set", _("Set"), test_names())
    examples = [example for example in tests.examples if example.extra["condition"] == shown]
    few = [example for label in tests.labels for example in [e for e in examples if e.label == label][:2]]
    st.table(
        [
            {
                _("text"): literal(example.text),
                **({_("second text"): literal(example.pair)} if task == "pair" else {}),
                _("label"): literal(example.label),
                _("cue"): _("yes") if example.extra["cue"] == "yes" else _("no"),
            }
            for example in few
        ]
    )
    share = {
        label: sum(e.extra["cue"] == "yes" for e in examples if e.label == label)
        / sum(e.label == label for e in examples)
        for label in tests.labels
    }
    st.markdown(
        _("With the cue: {shares}.").format(
            shares=", ".join(f"{literal(label)} **{part:.0%}**" for label, part in share.items())
        )
    )
