"""Attention against a recurrent network: what each costs, and a toy-world LSTM that reads the sentence."""

from __future__ import annotations

from sections.attention import rnn_bottleneck, rnn_directions, rnn_forgets, rnn_gates, rnn_steps
from sections.attention.subject import Inputs, Needs
from ui.inputs import chosen
from ui.lesson import Lesson
from ui.page import views
from ui.translations import _

FIRST = "gates"


def parts() -> dict:
    return {
        "steps": (_("Steps and cost"), rnn_steps),
        "gates": (_("The gates, word by word"), rnn_gates),
        "forgets": (_("What it forgets"), rnn_forgets),
        "directions": (_("Two directions"), rnn_directions),
        "bottleneck": (_("Through one vector"), rnn_bottleneck),
    }


def needs() -> Needs:
    return Needs.MODEL if chosen("rnn", parts(), FIRST) == "steps" else Needs.TEXT


def show(lesson: Lesson, inputs: Inputs) -> None:
    views("rnn", parts(), default=FIRST)(lesson, inputs)
