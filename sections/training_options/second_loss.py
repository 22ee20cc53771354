"""A second loss: MLM beside the task, or further labels of the same text."""

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import bench_of, columns, command, example_of, label_choice, values_of
from ui.figures import figure
from ui.inputs import seed_input
from ui.lesson import Lesson
from ui.page import drawer, picture
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _

HEADING = "A second loss"
MARKS = "Other marks"
WEIGHT = 0.5  # weight of the auxiliary loss


def show(lesson: Lesson, text: str) -> None:
    first, second, third, last = st.columns((4, 4, 4, 3), gap="medium", vertical_alignment="bottom")
    with first:
        weight = st.slider(_("Weight of the MLM loss"), 0.05, 1.0, 0.2, 0.05, key="weight", bind="query-params")
    with second:
        label = label_choice()
    with third:
        marks = st.multiselect(_("Marks learned beside"), columns(), key="marks")
    with last, drawer(key="more", holds=tuple(f"mark-{name}" for name in marks)):
        seed = seed_input(0)
        values = {name: st.selectbox(name, values_of(name), key=f"mark-{name}") for name in marks}
    from minibert.finetune.option_effects import loss_terms
    from plots.training_options import loss_sum

    bench = bench_of(mlm_weight=weight, auxiliary=tuple(values), auxiliary_weight=WEIGHT)
    results = loss_terms(bench, example_of(text, label, **values), seed)
    under = [f"{results.targets[i]}?" if i in results.targets else "" for i in range(len(results.tokens))]
    terms = {_("task"): results.task, _("{weight:g} · MLM").format(weight=weight): weight * results.mlm}
    added = ""
    if results.auxiliary is not None:
        terms[_("{weight:g} · marks").format(weight=WEIGHT)] = WEIGHT * results.auxiliary
        added = _(" + {weight:g} · marks {marks:.3f}").format(weight=WEIGHT, marks=results.auxiliary)
    alt = _("loss = task {task:.3f} + {weight:g} · MLM {mlm:.3f}{added} = {loss:.3f}").format(
        task=results.task, weight=weight, mlm=results.mlm, added=added, loss=results.loss
    )
    with picture():
        show_tokens(results.tokens, under=under, limit=60, label=_("Masked tokens"))
        fig = loss_sum(terms, _("loss, before the first step"))
        fig.update_layout(title_text=alt, margin_t=84)
        figure(fig, alt, key="terms")
    measured.show({"mlm": _("0.2 · MLM"), "marks": _("0.5 · marks: topic and kind")})
    lesson.show(HEADING)
    lesson.show(MARKS)
    more = [f"--auxiliary {' '.join(values)}", f"--auxiliary-weight {WEIGHT:g}"] if values else []
    command(f"--mlm-weight {weight:g}", *more)
    from minibert.finetune.auxiliary import AuxiliaryLoss
    from minibert.finetune.learner import Learner

    show_source(Learner.forward, find="loss.weight", label=_("Both losses"))
    show_source(AuxiliaryLoss, label=_("A layer for each mark"))
