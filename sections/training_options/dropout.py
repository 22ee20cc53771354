"""Several dropout masks per example."""

import statistics

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import bench_of, command, example_of, label_choice
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.translations import _

HEADING = "Several dropout masks"
MASKS = 256  # number of dropout masks drawn


def show(lesson: Lesson, text: str) -> None:
    first, second, third = st.columns(3, gap="medium")
    with first:
        masks = st.slider(_("Masks a step"), 2, 16, 8, key="masks", bind="query-params")
    with second:
        dropout = st.slider(_("Dropout"), 0.05, 0.5, 0.1, 0.05, key="dropout", bind="query-params")
    with third:
        label = label_choice()
    from minibert.finetune.option_effects import dropout_losses, group_means
    from plots.training_options import loss_spread

    losses = dropout_losses(bench_of(dropout=dropout), example_of(text, label), MASKS)
    means = group_means(losses, masks)
    groups = {_("1 mask"): losses, _("{n} masks").format(n=masks): means}
    one, several = statistics.stdev(losses), statistics.stdev(means)
    alt = _(
        "The loss of this sentence under {count} dropout masks scatters by {one:.4f} (standard deviation); means of "
        "{n} masks by {several:.4f}, {factor:.1f} times less. √{n} is {root:.1f}."
    ).format(count=MASKS, one=one, n=masks, several=several, factor=one / several if several else 1.0, root=masks**0.5)
    fig = loss_spread(groups, _("loss before the first step"))
    fig.update_layout(
        title_text=_("Means of {n} masks scatter {factor:.1f} times less").format(
            n=masks, factor=one / several if several else 1.0
        )
    )
    with picture():
        figure(fig, alt, key="losses")
    st.markdown(alt, width=820)
    measured.show({"masks": _("8 masks a step")})
    lesson.show(HEADING)
    command(f"--dropout {dropout:g}", f"--dropout-samples {masks}")
    from minibert.heads import TaskHead

    show_source(TaskHead.answers, find="dropout_samples", label=_("The masks"))
    show_source(TaskHead.answer, label=_("The mean of their losses"))
