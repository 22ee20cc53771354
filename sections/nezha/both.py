"""BERT and NEZHA, trained now on the same short rows, and asked in longer ones."""

from dataclasses import replace

import streamlit as st

from sections.nezha.subject import Subject
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.train_both import Quantity, Side, train_both
from ui.translations import _

SHORT, LONG = 32, 128  # tokens a row: as trained, and as asked beyond it
CLIPS = (4, 8, 16, 32, 64)


def optimizers() -> dict[str, str]:
    return {"muon": "Muon", "adamw": "AdamW", "lamb": "LAMB"}


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.toy.pretrain import TOY

    lesson.show("Train both", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            watch = sentence_input(
                "cloze", lesson.examples_called("cloze"), label=_("A sentence with a [MASK], answered while they train")
            )
        with drawer(key="both-drawer"):
            start = choice("positions", _("BERT’s positions"), {"words": _("learned"), "sinusoids": _("sinusoids")})
            clip = st.select_slider(
                _("NEZHA’s distances clipped at ±"), CLIPS, value=64, key="clip", bind="query-params"
            )
            optimizer = choice("optimizer", _("Optimizer of both"), optimizers())
            batch = st.select_slider(
                _("Rows a batch"), (16, 32, 64, 128, 256), value=32, key="batch", bind="query-params"
            )
    shared = {
        "max_length": SHORT, "batch_size": int(batch), "optimization": replace(TOY.optimization, optimizer=optimizer)
    }  # fmt: skip
    sinusoids = start == "sinusoids"
    train_both(
        "nezha",
        [
            Side(_("BERT, sinusoids") if sinusoids else "BERT", settings={**shared, "start": start}),
            Side(
                "NEZHA" if clip == 64 else f"NEZHA ±{clip}", "nezha", sizes={"max_relative_position": int(clip)},
                settings={**shared, "start": "words"},
            ),
        ],
        [
            Quantity(_("Right in rows of {n}, as trained").format(n=SHORT), marks=f"right_{SHORT}", percent=True),
            Quantity(_("Right in rows of {n}").format(n=LONG), marks=f"right_{LONG}", percent=True),
            Quantity(_("MLM loss"), line="mlm_loss"),
        ],
        watch,
        lengths=(SHORT, LONG),
    )  # fmt: skip
    lesson.show("How to read the curves", title=False)
