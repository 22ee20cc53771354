"""Where the FLOPs go."""

from functools import partial

import streamlit as st

from minibert.count import by_group, flops, parameters, rows_of, total
from plots.parameters import shares, short
from sections.parameters.models import MASKED
from sections.parameters.names import group_names, part_table
from sections.parameters.sizes import Sizes, fits
from ui.figures import figure
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import one_by_one
from ui.translations import _


def show(lesson: Lesson, inputs: Sizes) -> None:
    if fits(inputs):
        _arithmetic(inputs)
    lesson.show("Where the arithmetic goes", title=False)
    lesson.show("Reading the arithmetic", title=False)


def _arithmetic(inputs: Sizes) -> None:
    model, batch, tokens = inputs.model, inputs.batch, inputs.tokens
    count = parameters(model)
    training = flops(model, batch, tokens, MASKED)
    everything = total(count.parts)
    rows = {_("Parameters<br><b>{n}</b>").format(n=short(everything)): by_group(count.parts)}
    if model.objective == "rtd":
        rows[_("FLOPs<br><b>{n}</b>").format(n=short(training.total))] = by_group(training.parts)
    else:
        dense = flops(model, batch, tokens, 1)
        label = _("FLOPs, MLM head<br>on 15 %: <b>{n}</b>")
        rows[label.format(n=short(training.total))] = by_group(training.parts)
        rows[_("FLOPs, MLM head<br>on all: <b>{n}</b>").format(n=short(dense.total))] = by_group(dense.parts)
    groups = by_group(training.parts)
    figure(
        partial(
            shares,
            rows,
            names=group_names(),
            title=_("Embeddings: {share} of the parameters, {cost} of the FLOPs").format(
                share=f"{by_group(count.parts)['embeddings'] / everything:.0%}",
                cost=f"{groups['embeddings'] / training.forward:.0%}",
            ),
        ),
        _("Shares of a training step's FLOPs: {shares}. Embeddings: {embeddings} of the parameters, {cost}.").format(
            shares=_(", ").join(f"{group_names()[g]} {n / training.forward:.1%}" for g, n in groups.items() if n),
            embeddings=f"{by_group(count.parts)['embeddings'] / everything:.1%}",
            cost=_("{share} of the FLOPs").format(share=f"{groups['embeddings'] / training.forward:.1%}")
            if groups["embeddings"]
            else _("no FLOPs"),
        ),
        key="arithmetic-figure",
        data=lambda: part_table(training.parts),
    )
    words = [
        _(
            "One training step on {batch} × {tokens} tokens: **{total}FLOP**, of which forward {forward}FLOP, "
            "backward {backward}FLOP. That is {each}FLOP a token."
        ).format(
            batch=batch,
            tokens=tokens,
            total=short(training.total),
            forward=short(training.forward),
            backward=short(training.total - training.forward),
            each=short(training.total / (batch * tokens)),
        )
    ]
    if model.objective != "rtd":
        times = f"{dense.total / training.total:.1f}"
        words.append(_("With the MLM head at every position it would be {ratio} times as much.").format(ratio=times))
    st.markdown(one_by_one(*words))
    show_source(rows_of)
