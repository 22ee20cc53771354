"""Which loss: the recorded arms, each with a loss more or less, beside TinyBERT's own ablation."""

import streamlit as st

from sections.smaller.claim import recorded
from sections.smaller.subject import Subject
from ui.claim import show_claim
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("Which loss", title=False)
    show_claim(lesson, "accuracy", _("accuracy, SST-2 dev, %"), claim="losses", made=recorded)
    st.markdown(_("At a temperature above 1 soft labels say more about what is *not* right:"))
    temperature_table()
    lesson.show("What the losses ask")


@st.fragment
def temperature_table() -> None:
    import torch

    temperature = st.slider(_("Temperature"), 0.5, 5.0, 2.0, 0.5, key="T", bind="query-params", width=260)
    logits = torch.tensor([4.0, 2.0, -1.0])
    names = (_("a good film"), _("a long film"), _("a loud film"))
    st.table(
        [
            {_("answer"): name, _("score"): f"{score:.1f}", "T = 1": f"{one:.1%}", f"T = {temperature:g}": f"{two:.1%}"}
            for name, score, one, two in zip(
                names, logits.tolist(), logits.softmax(0).tolist(), (logits / temperature).softmax(0).tolist(),
                strict=True,
            )
        ]
    )  # fmt: skip
