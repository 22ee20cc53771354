"""LAMB's trust ratio per weight matrix, for a BERT in further training, beside AdamW's step."""

from functools import partial

import streamlit as st

from sections.training_options import grown, measured, toy
from sections.training_options.toy import name_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.translations import _

BATCHES = (8, 32, 128)
STEPS, RATE = 5, 1e-3


def show(lesson: Lesson, text: str) -> None:
    """By how much a step moves each matrix; independent of the text."""
    from minibert.training.lamb import Lamb
    from plots.training_options import layer_shares

    rows = st.segmented_control(_("Rows a batch"), BATCHES, default=32, key="lamb-rows", required=True)
    steps = moved(toy.version(), int(rows or 32))
    names = [name_of(one.name) for one in steps]
    least, most = min(steps, key=lambda one: one.adamw), max(steps, key=lambda one: one.adamw)
    st.markdown(
        _(
            "At the same learning rate {rate:g}, AdamW moves **{most}** by {high:.2%} of its length and **{least}** by "
            "{low:.2%}, {times:.0f} times less. LAMB moves each by {lamb:.2%}."
        ).format(
            rate=RATE,
            most=name_of(most.name),
            high=most.adamw,
            least=name_of(least.name),
            low=least.adamw,
            times=most.adamw / least.adamw if least.adamw else 0,
            lamb=steps[0].lamb,
        )
    )
    shares = {"AdamW": [one.adamw for one in steps], "LAMB": [one.lamb for one in steps]}
    listed = _("; ").join(
        f"{name}{_(': ')}{one.adamw:.2%}, {one.lamb:.2%}" for name, one in zip(names, steps, strict=True)
    )
    table = [
        {
            _("matrix"): name,
            "‖w‖": f"{one.weight:.2f}",
            "‖u‖": f"{one.step:.2f}",
            _("ratio ‖w‖/‖u‖"): f"{one.ratio:.4f}",
            "AdamW": f"{one.adamw:.3%}",
            "LAMB": f"{one.lamb:.3%}",
        }
        for name, one in zip(names, steps, strict=True)
    ]
    with picture():
        figure(
            partial(layer_shares, names, shares, _("share of its length that a step moves it")),
            _("By how much of its own length a step moves each matrix, AdamW and LAMB. {told}.").format(told=listed),
            "layer-shares",
            data=table,
        )
    words = _(
        "The BERT of the toy world, {steps} steps further with AdamW on stories it has not read; of the last step, u = "
        "m̂/(√v̂ + ε) + λw of each matrix. Numbers stand under *In words and numbers*."
    )
    st.caption(words.format(steps=STEPS))
    measured.title()
    grown.lamb_against_adamw()
    lesson.show("LAMB")
    lesson.show("When batches grow")
    show_source(Lamb.move, find="trust_ratio", label=_("A step of LAMB"))


@st.cache_data(show_spinner=False, max_entries=12)
def moved(version: int, rows: int) -> list:
    from itertools import islice

    from minibert.inside.layer_steps import layer_steps
    from minibert.objectives import MaskedLanguageModel
    from minibert.train import Optimization

    steps = islice(toy.batches(rows), STEPS)
    return layer_steps(
        toy.network(version)[0], steps, MaskedLanguageModel(second=None), Optimization(learning_rate=RATE)
    )
