"""Half precision: what float16 loses of a small update, and of small gradients."""

from functools import partial

import streamlit as st

from sections.training_options import measured, toy
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.translations import _

WEIGHTS = (0.02, 0.1, 0.5, 1.0, 2.0)
UPDATES = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
STEPS = 1_000
EXPONENTS = tuple(range(0, 29, 2))  # loss scale: 2 to the power of these
ROWS = 16  # stories per batch


def show(lesson: Lesson, text: str) -> None:
    """Independent of the text."""
    from minibert.inside.costs.half_precision import repeated

    with picture():
        vanishing()
    measured.nothing(_("No run in float16 has been recorded here: what it changes in a result is not measured."))
    lesson.show("Half the bits")
    show_source(repeated, label=_("Both ways, step by step"))
    lesson.show("Small gradients")
    underflow()


def vanishing() -> None:
    """A small update, added a thousand times to one weight."""
    from minibert.inside.costs.half_precision import repeated, spacing
    from plots.training_options import weight_paths

    with st.container(horizontal=True, gap="medium"):
        weight = st.select_slider(_("A weight"), WEIGHTS, value=0.5, key="weight", bind="query-params", width=260)
        look = {"format_func": "{:g}".format, "key": "update", "bind": "query-params", "width": 260}
        update = st.select_slider(_("Its update, each step"), UPDATES, value=1e-4, **look)
    half, master = repeated(weight, update, STEPS)
    gap = spacing(weight)
    lost = half[-1] == half[0]
    words = (
        _(
            "The next float16 above {w:g} is {gap:.3g} away; {u:g} is at most half of that: it is added {n:,} times, "
            "and **nothing happens**. With a float32 master weight: {end:.4f}."
        )
        if lost
        else _(
            "The next float16 above {w:g} is {gap:.3g} away. Added {n:,} times, {u:g} makes {half:.4f} in float16 "
            "and {end:.4f} with a float32 master weight."
        )
    )
    st.markdown(words.format(w=weight, gap=gap, u=update, n=STEPS, end=master[-1], half=half[-1]))
    names = {_("kept in float16"): half, _("float32 master weight, rounded for use"): master}
    alt = _(
        "A weight of {w:g} to which {u:g} is added {n:,} times: {half:.4f} if it is kept in float16, {end:.4f} "
        "with a master weight in float32."
    ).format(w=weight, u=update, n=STEPS, half=half[-1], end=master[-1])
    figure(partial(weight_paths, names, (_("step"), _("the weight as used"))), alt, "weight-paths")


def underflow() -> None:
    """The gradients of the toy world's BERT on one batch of stories in float16, for each loss scale."""
    from minibert.inside.costs.half_precision import SMALLEST, gradients
    from plots.nezha import over_scales

    results = counted(toy.version())
    look = {"format_func": "2^{}".format, "key": "scale", "bind": "query-params", "width": 420}
    exponent = st.select_slider(_("The loss is multiplied by"), EXPONENTS, value=0, **look)
    here = EXPONENTS.index(exponent)
    one = results[here]
    if one.overflow:
        words = _("**{over:.2%} of the gradients are infinite**: this step must be left out, and the scale halved.")
    else:
        words = _("**{zero:.2%} of the gradients that are not 0 become 0**; none is infinite.")
    st.markdown(words.format(zero=one.zero, over=one.overflow))
    lines = {
        _("become 0"): [result.zero for result in results],
        _("become infinite"): [result.overflow for result in results],
    }
    names = [f"2<sup>{e}</sup>" for e in EXPONENTS]
    listed = _("; ").join(
        f"2^{e}{_(': ')}{result.zero:.2%}, {result.overflow:.2%}" for e, result in zip(EXPONENTS, results, strict=True)
    )
    figure(
        partial(over_scales, lines, names, here, (_("scale of the loss"), _("share of the gradients"))),
        _(
            "Of a BERT’s gradients on {n} stories, computed in float16: the share that becomes 0, and that becomes "
            "infinite, for each scale. {told}."
        ).format(n=ROWS, told=listed),
        "loss-scales",
        data=[
            {_("scale"): f"2^{e}", _("become 0"): f"{r.zero:.3%}", _("become infinite"): f"{r.overflow:.3%}"}
            for e, r in zip(EXPONENTS, results, strict=True)
        ],
    )
    st.caption(
        _(
            "Forward and backward really computed in float16, on {n} stories that it has not read, against the same in "
            "float32. The least number float16 has is 2⁻²⁴ ≈ {least:.2g}, the largest 65,504."
        ).format(n=ROWS, least=SMALLEST)
    )
    show_source(gradients, label=_("A gradient, in one precision or the other"))


@st.cache_data(show_spinner=False, max_entries=2)
def counted(version: int):
    from minibert.inside.costs.half_precision import lost
    from minibert.objectives import MaskedLanguageModel

    batch = next(toy.batches(ROWS))
    return lost(toy.network(version)[0], batch, MaskedLanguageModel(second=None), [2.0**e for e in EXPONENTS])
