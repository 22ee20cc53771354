"""BERT and NEZHA, trained live on the same short rows, and evaluated on longer ones."""

import streamlit as st

from sections.nezha.subject import Inputs
from ui import train_both
from ui.inputs import choice
from ui.lesson import Lesson
from ui.train_both import ComparedModel, Quantity
from ui.translations import _

SHORT, LONG = 32, 128  # tokens per row: in training, in evaluation
SHARED = {"max_length": SHORT, "batch_size": 32}
CLIPS = (4, 8, 16, 32, 64)


def show(lesson: Lesson, inputs: Inputs) -> None:
    train_both.show(lesson, at_choice, ("clip",))


def at_choice() -> dict:
    start = choice("positions", _("BERT’s positions"), {"words": _("learned"), "sinusoids": _("sinusoids")})
    clip = st.select_slider(_("NEZHA’s distances clipped at ±"), CLIPS, value=64, key="clip", bind="query-params")
    sinusoids = start == "sinusoids"
    return {
        "sides": [
            ComparedModel(_("BERT, sinusoids") if sinusoids else "BERT", settings={**SHARED, "start": start}),
            ComparedModel(
                "NEZHA" if clip == 64 else f"NEZHA ±{clip}",
                "nezha",
                sizes={"max_relative_position": int(clip)},
                settings={**SHARED, "start": "words"},
            ),
        ],
        "quantities": [
            Quantity(_("Right in rows of {n}, as trained").format(n=SHORT), marks=f"right_{SHORT}", percent=True),
            Quantity(_("Right in rows of {n}").format(n=LONG), marks=f"right_{LONG}", percent=True),
            Quantity(_("MLM loss"), line="mlm_loss"),
        ],
        "lengths": (SHORT, LONG),
    }
