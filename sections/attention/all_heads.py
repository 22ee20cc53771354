"""All heads as small matrices on one scale, the chosen one large, and what is lost if a layer has one pattern."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.attention.subject import Inputs, Needs, axes, drawn, picked_row, show_guesses, square, trace
from ui.figures import figure
from ui.inputs import clicked, state
from ui.inspected_model import InspectedModel, head_name, word_to_hide
from ui.lesson import Lesson
from ui.translations import _
from ui.window import say_drawn

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput


def needs() -> Needs:
    return Needs.HEAD


def show(lesson: Lesson, inputs: Inputs) -> None:
    every_head(lesson, inputs)
    lesson.show("Why many heads")
    position = word_to_hide(inputs.reading, lesson.points.get(inputs.text))
    if position is not None:
        many_heads(inputs.subject, inputs.reading, position)


@st.fragment
def every_head(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.heads.arithmetic import all_probs, entropy
    from plots import attention as plots

    if st.session_state.pop("attention-opened", False):
        st.rerun()  # layer and head are chosen above, outside this fragment
    subject, reading, layer, head = inputs.subject, inputs.reading, inputs.layer, inputs.head
    n = reading.length
    tokens = reading.tokens[:n]
    probs = all_probs(trace(subject, reading))[:, 0, :, :n, :n]  # (L, A, T, T)
    bits = entropy(probs).mean(-1)  # (L, A)
    lesson.show("All heads at once", title=False)
    seen = drawn(inputs, picked_row(inputs))
    say_drawn(n, len(seen.rows))
    left, right = st.columns([11, 10], gap="medium")
    with left:
        sharp, broad = (head_name(*divmod(int(at), bits.size(1))) for at in (bits.argmin(), bits.argmax()))
        summary = _("Sharpest: {sharp}, {low:.1f} bits a row. Broadest: {broad}, {top:.1f}.")
        st.markdown(f"**{summary.format(sharp=sharp, broad=broad, low=bits.min().item(), top=bits.max().item())}**")
        figure(
            partial(plots.all_heads, seen.square(probs), selected=(layer, head), names=(_("layer"), _("head"))),
            _("{layers} layers of {heads} heads, each a matrix. Chosen: {name}.").format(
                layers=probs.size(0), heads=probs.size(1), name=head_name(layer, head)
            ),
            "attention-heads",
            on_select=open_head,
            wide=True,
            data=lambda: pd.DataFrame(
                bits.numpy(),
                index=[_("layer {n}").format(n=i + 1) for i in range(probs.size(0))],
                columns=[_("head {n}, entropy in bits").format(n=a + 1) for a in range(probs.size(1))],
            ),
        )
    with right:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{head_name(layer, head)}**", width="content")
            if st.button(_("Take it apart, step by step"), icon=":material/calculate:", on_click=open_stepper):
                st.rerun()
        figure(
            partial(plots.attention_matrix, seen.tokens, seen.square(probs[layer, head]), axes=axes(), height=520),
            _("The shares of {name} for {count} tokens.").format(name=head_name(layer, head), count=n),
            "attention-opened-head",
            data=lambda: square(probs[layer, head], tokens),
        )
        st.markdown(
            _(
                "Its rows have **{bits:.2f} bits** of entropy on average: 0 is all on one token, {most:.2f} all alike."
            ).format(bits=bits[layer, head].item(), most=math.log2(n))
        )


@st.cache_resource(show_spinner=False, max_entries=24)
def with_and_without_patterns(subject: InspectedModel, hidden: ModelInput, position: int) -> list:
    """What is expected at `position`, (V,): as trained, and with one pattern for all heads of a layer."""
    from minibert.inside.explanations.interventions import fill_in, one_pattern
    from minibert.model import no_tap

    return [fill_in(subject.model, hidden.batch(), position, tap)[0] for tap in (no_tap, one_pattern)]


@st.fragment
def many_heads(subject: InspectedModel, reading: ModelInput, position: int) -> None:
    """How much the heads differ, and what is lost when all heads of a layer share one pattern."""
    from minibert.inside.explanations.interventions import total_variation
    from minibert.inside.heads.arithmetic import all_probs, disagreement

    hidden = reading.padded(0).hiding(position)
    before, after = with_and_without_patterns(subject, hidden, position)
    differ = disagreement(all_probs(trace(subject, hidden))[:, 0])  # (L,)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.metric(_("Two heads of a layer differ in"), f"{differ.mean().item():.1%}")
        st.caption(_("of a row’s weight (mean over all pairs of heads, rows and layers)."))
        st.metric(_("One pattern for all: what moves"), f"{total_variation(before, after).item():.1%}")
        st.caption(_("of the predicted probability, if every head of a layer uses the mean of its heads’ weights."))
    with right:
        show_guesses(subject, before, after, (_("as trained"), _("one pattern a layer")), "attention-pattern-words")


def open_stepper() -> None:
    st.session_state["part"] = _("One head")


def open_head() -> None:
    clicked("attention-heads", state("layer"), state("head"))
    st.session_state["attention-opened"] = True
