"""A second loss: going on with masked words while the task is learned."""

import streamlit as st

from sections.training_options.bench import bench_of, command, example_of, label_choice
from ui.figures import figure
from ui.inputs import seed_input
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _

HEADING = "A second loss"


def show(lesson: Lesson, text: str) -> None:
    """The sentence as both losses read it, and their sum."""
    left, right = st.columns(2, gap="medium")
    with left:
        weight = st.slider(_("Weight of the MLM loss"), 0.05, 1.0, 0.2, 0.05, key="weight", bind="query-params")
        label = label_choice()
    with right:
        seed = seed_input(0)
    from minibert.finetune.option_effects import loss_terms
    from plots.training_options import loss_sum

    found = loss_terms(bench_of(mlm_weight=weight), example_of(text, label), seed)
    under = [f"{found.asked[i]}?" if i in found.asked else "" for i in range(len(found.tokens))]
    terms = {_("task"): found.task, _("{weight:g} · MLM").format(weight=weight): weight * found.mlm}
    alt = _("loss = task {task:.3f} + {weight:g} · MLM {mlm:.3f} = {loss:.3f}").format(
        task=found.task, weight=weight, mlm=found.mlm, loss=found.loss
    )
    with picture():
        show_tokens(found.tokens, under=under, limit=60, label=_("Masked tokens"))
        fig = loss_sum(terms, _("loss, before the first step"))
        fig.update_layout(title_text=alt, margin_t=84)
        figure(fig, alt, key="terms")
    st.markdown(f"**{alt}**", width=820)
    lesson.show(HEADING)
    command(f"--mlm-weight {weight:g}")
    from minibert.finetune.learner import Learner

    show_source(Learner.forward, find="mlm_loss", label=_("Both losses"))
