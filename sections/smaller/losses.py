"""The distillation losses, and the effect of temperature on the teacher's predictions."""

import streamlit as st

from sections.smaller.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.distillation import losses

    lesson.show("The losses", title=False)
    temperature_table()
    show_source(losses.soft_label_loss)
    lesson.show("Inside")
    show_source(losses.attention_loss)
    show_source(losses.relation_loss)
    lesson.show("Other words, other heads")


@st.fragment
def temperature_table() -> None:
    import torch

    temperature = st.slider(_("Temperature"), 0.5, 5.0, 2.0, 0.5, key="T", bind="query-params", width=260)
    logits = torch.tensor([4.0, 2.0, -1.0])
    names = (_("a good film"), _("a long film"), _("a loud film"))
    rows = [
        {_("answer"): name, _("score"): f"{score:.1f}", "T = 1": f"{one:.1%}", f"T = {temperature:g}": f"{two:.1%}"}
        for name, score, one, two in zip(
            names,
            logits.tolist(),
            logits.softmax(0).tolist(),
            (logits / temperature).softmax(0).tolist(),
            strict=True,
        )
    ]
    st.table(rows)
