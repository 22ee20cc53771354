"""Break it: remove the root, the mask or the positions, and see how the prediction for a hidden word changes."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.attention import sentence_pairs
from sections.attention.subject import (
    DRAWN,
    MOST_PADDING,
    Drawn,
    Inputs,
    Needs,
    aside,
    axes,
    show_guesses,
    square,
    tiny,
    trace,
)
from ui.figures import figure
from ui.inputs import choice, chosen
from ui.inspected_model import InspectedModel, head_name, word_to_hide
from ui.lesson import Lesson
from ui.text import show_tokens
from ui.translations import _
from ui.window import around, with_first

if TYPE_CHECKING:
    from minibert.inside.explanations.interventions import PaddingLeak
    from minibert.inside.model_input import ModelInput


@st.cache_data(show_spinner=False, max_entries=64)
def leak(subject: InspectedModel, reading: ModelInput, position: int) -> PaddingLeak:
    from minibert.inside.explanations.interventions import padding_leak

    return padding_leak(subject.model, reading, position, MOST_PADDING)


def parts() -> dict[str, str]:
    return {"root": _("÷ √D"), "mask": _("the mask"), "positions": _("the positions")}


def needs() -> Needs:
    return Needs.HEAD if chosen("break", parts(), "root") == "root" else Needs.MODEL


def show(lesson: Lesson, inputs: Inputs) -> None:
    position = word_to_hide(inputs.reading, lesson.points.get(inputs.text))
    if position is not None:
        leave_out(lesson, inputs, position)
    lesson.show("Padding and sentence pairs")
    sentence_pairs.show(inputs)


@st.fragment
def leave_out(lesson: Lesson, inputs: Inputs, position: int) -> None:
    part = choice("break", _("What to leave out"), parts())
    if (part == "root") != (inputs.head is not None):
        st.rerun()  # layer and head stand outside this fragment
    hidden = inputs.reading.padded(0).hiding(position)
    if part == "root":
        without_root(lesson, inputs, hidden, position)
    elif part == "mask":
        without_mask(lesson, inputs.subject, hidden, position)
    else:
        without_positions(lesson, inputs.subject, hidden, position)


def near(reading: ModelInput, position: int) -> Drawn:
    """The tokens around the hidden word that the pictures have room for."""
    seen = Drawn(reading.tokens, with_first(around(reading.length, DRAWN, position)))
    if len(seen.rows) < reading.length:
        said = _("The model reads all {n} tokens. Drawn are {shown} around the hidden word.")
        st.caption(said.format(n=reading.length, shown=len(seen.rows)))
    return seen


@st.cache_resource(show_spinner=False, max_entries=8)  # half a megabyte of 18 tokens, 8 of 120
def without_root_computed(subject: InspectedModel, reading: ModelInput, position: int, factor: float) -> tuple:
    """(tensors of a pass whose scores are multiplied by `factor`; what is expected at `position` as trained, and so)"""
    from minibert.inside.explanations.interventions import fill_in, scale_scores
    from minibert.inside.heads.arithmetic import record

    batch, tap = reading.batch(), scale_scores(factor)
    guesses = (fill_in(subject.model, batch, position)[0], fill_in(subject.model, batch, position, tap)[0])
    return record(subject.model.bert, batch, tap), *guesses


def without_root(lesson: Lesson, inputs: Inputs, reading: ModelInput, position: int) -> None:
    from minibert.inside.heads.arithmetic import all_probs, entropy
    from plots.attention import attention_matrix

    subject, layer, head = inputs.subject, inputs.layer, inputs.head
    root = math.sqrt(subject.model.config.head_size)
    factor = st.slider(
        _("Multiply every score by … (√D = {root:.4g} undoes the division)").format(root=root),
        *(0.0, 2 * root, root, root / 16),
        key="factor",
        bind="query-params",
    )
    broken, *guesses = without_root_computed(subject, reading, position, factor)
    before, after = (all_probs(inputs)[:, 0] for inputs in (trace(subject, reading), broken))  # (L, A, T, T)
    measures = [
        (_("Entropy of a row, bits"), "{:.2f}", entropy),
        (_("Largest share of a row"), "{:.1%}", lambda p: p.amax(-1)),
        (_("Slope left: 1 − Σp²"), "{:.3f}", lambda p: 1 - p.square().sum(-1)),
    ]
    for box, (name, form, measure) in zip(st.columns(3), measures, strict=True):
        was = _("{before} as trained").format(before=form.format(measure(before).mean().item()))
        aside(box, name, form.format(measure(after).mean().item()), was)
    st.caption(_("Means over all rows of all heads of all layers. Below, {name}.").format(name=head_name(layer, head)))
    names = (_("as trained"), _("scores × {factor:.3g}").format(factor=factor))
    seen = near(reading, position)
    for side, (box, probs) in enumerate(zip(st.columns(2, gap="medium"), (before, after), strict=True)):
        with box:
            st.markdown(f"**{names[side]}**")
            figure(
                partial(
                    attention_matrix,
                    seen.tokens,
                    seen.square(probs[layer, head]),
                    axes=axes(),
                    height=100 + 22 * max(9, len(seen.rows)),
                ),
                _("{name}: the largest share is {top:.1%}.").format(
                    name=names[side], top=probs[layer, head].max().item()
                ),
                f"attention-root-{side}",
                data=lambda probs=probs: square(probs[layer, head], reading.tokens),
            )
    show_guesses(subject, *guesses, names, "attention-root-words")
    lesson.show("Without the root", title=False)


def without_mask(lesson: Lesson, subject: InspectedModel, reading: ModelInput, position: int) -> None:
    from minibert.inside.explanations.interventions import total_variation
    from plots.attention_experiments import curves

    lesson.show("Without the mask", title=False)
    count = st.slider(_("Padding behind the sentence"), 0, MOST_PADDING, 12, key="behind", bind="query-params")
    effects = leak(subject, reading, position)
    show_tokens(reading.padded(count).tokens, label=_("The sentence with its padding"))
    names = (_("with the mask"), _("without the mask"))
    share, guess = st.columns(2)
    aside(
        share,
        _("Attention that goes to padding"),
        f"{effects.share[count]:.1%}",
        _("{n:.0%} with the mask").format(n=0),
    )
    moved = [total_variation(p[count], effects.masked[0]).item() for p in (effects.unmasked, effects.masked)]
    aside(
        guess,
        _("Probability that moved"),
        f"{moved[0]:.1%}",
        _("{moved} with the mask: rounding").format(moved=tiny(moved[1])),
    )
    best = effects.masked[0].argmax().item()
    word = subject.tokenizer.vocab[best]
    lines = {names[0]: effects.masked[:, best].tolist(), names[1]: effects.unmasked[:, best].tolist()}
    left, right = st.columns(2, gap="medium")
    with left:
        figure(
            partial(
                curves,
                range(MOST_PADDING + 1),
                lines,
                xaxis=_("padding tokens"),
                yaxis=_("probability of “{word}”").format(word=word),
                here=count,
            ),
            _(
                "Probability of {word}: {first:.1%} without padding; with {n} padding tokens {masked:.1%} with the mask"
                " and {unmasked:.1%} without."
            ).format(
                word=word,
                first=lines[names[0]][0],
                n=count,
                masked=lines[names[0]][count],
                unmasked=lines[names[1]][count],
            ),
            "attention-mask-curve",
            data=lambda: pd.DataFrame(lines),
        )
    with right:
        show_guesses(subject, effects.masked[count], effects.unmasked[count], names, "attention-mask-words")


def without_positions(lesson: Lesson, subject: InspectedModel, reading: ModelInput, position: int) -> None:
    from minibert.inside.explanations.interventions import order_effect
    from minibert.inside.explanations.interventions import without_positions as no_positions
    from plots.attention_experiments import order_differences

    lesson.show("Without positions", title=False)
    if not hasattr(subject.model.bert.embeddings, "position"):
        st.markdown(
            _(
                "This model has no position embeddings: what is set to zero here are the vectors for distances, which "
                "its heads add to keys and values."
            )
        )
    orders = {"swapped": _("two words swapped"), "reversed": _("reversed"), "shuffled": _("shuffled")}
    order = reading.new_order(choice("order", _("The other order"), orders))
    show_tokens(reading.tokens, label=_("The sentence"))
    show_tokens(reading.reordered(order).tokens, label=_("The same tokens in the other order"))
    intact = order_effect(subject.model, reading, order, position)
    without = order_effect(subject.model, reading, order, position, no_positions)
    names = (_("with positions"), _("without"))
    seen = near(reading, position)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        st.markdown(f"**{_('How far the output of each token moves')}**")
        figure(
            partial(order_differences, seen.tokens, seen.of(intact.moved), seen.of(without.moved), names, height=470),
            _("With positions the outputs move by {a:.2f} of their length on average; without, at most by {b}.").format(
                a=intact.moved.mean().item(), b=tiny(without.moved.max().item())
            ),
            "attention-order",
            data=lambda: pd.DataFrame({_("token"): reading.tokens, names[0]: intact.moved, names[1]: without.moved}),
        )
        st.caption(
            _(
                "Length of the difference ÷ length of the vector. Without positions at most {b} is left: added in "
                "another order, 32-bit numbers round differently."
            ).format(b=tiny(without.moved.max().item()))
        )
    with right:
        for side, effect in enumerate((intact, without)):
            st.markdown(f"**{names[side]}**")
            show_guesses(
                subject, effect.here, effect.there, (_("this order"), _("the other")), f"attention-order-words-{side}"
            )
