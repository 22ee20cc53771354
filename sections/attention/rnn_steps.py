"""Steps and cost: the path between two words, how many steps must wait, and cost by text length."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.attention.subject import DRAWN, Inputs
from ui.figures import figure
from ui.inputs import choice, numbered, pick
from ui.lesson import Lesson
from ui.translations import _, ngettext

LENGTHS = tuple(2**n for n in range(3, 14))  # T in the cost figure
SIZES = (64, 128, 256, 512, 768, 1024)  # H there
TIMED = (8, 16, 32, 64, 128, 256, 512)

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput


def show(lesson: Lesson, inputs: Inputs) -> None:
    paths(lesson, inputs.reading)
    cost(lesson)


@st.cache_data(show_spinner=False)
def timings(hidden: int, heads: int) -> dict[str, list[float]]:
    from minibert.inside.costs.sequence_cost import measure

    return measure(TIMED, hidden, heads)


@st.fragment
def paths(lesson: Lesson, reading: ModelInput) -> None:
    from minibert.inside.costs.sequence_cost import path_length, waiting_steps
    from plots import attention_experiments as plots

    tokens = reading.tokens[: min(reading.length, DRAWN)]  # the first: what matters here are the steps between two
    lesson.show("How far", level=3)
    if len(tokens) < reading.length:
        st.caption(_("Drawn are the first {n} tokens.").format(n=len(tokens)))
    with st.container(horizontal=True):
        start = pick("source", _("From"), numbered(tokens), default=1)
        end = pick("target", _("To"), numbered(tokens), default=len(tokens) - 3)

    def titles(count: Any) -> tuple[str, ...]:
        networks = {"attention": _("self-attention"), "rnn": _("recurrent network")}
        steps = {network: count(network) for network in networks}
        return tuple(
            f"{name}{_(': ')}" + ngettext("{n} step", "{n} steps", steps[network]).format(n=steps[network])
            for network, name in networks.items()
        )

    figure(
        plots.paths(tokens, start, end, titles(lambda network: path_length(network, start, end))),
        _("Steps from {start} to {end}: {steps}.").format(
            start=tokens[start],
            end=tokens[end],
            steps=_(", ").join(titles(lambda network: path_length(network, start, end))),
        ),
        "attention-paths",
        wide=True,
    )
    lesson.show("What waits for what", level=3)
    steps_ = titles(lambda network: waiting_steps(network, len(tokens)))
    figure(
        plots.schedule(tokens, steps_, _("step")),
        _("Steps that must wait for one another, for {n} tokens: {steps}.").format(
            n=len(tokens), steps=_(", ").join(steps_)
        ),
        "attention-schedule",
        wide=True,
    )


@st.fragment
def cost(lesson: Lesson) -> None:
    from minibert.inside.costs.sequence_cost import FORMULAS, crossing, flops
    from plots.attention_experiments import curves

    lesson.show("What it costs", level=3)
    names = {"attention": _("self-attention"), "rnn": _("recurrent network"), "lstm": _("LSTM")}
    kinds = {"mixing": _("attention without its projections"), "layer": _("the whole layer")}
    kind = choice("counting", _("What is counted"), kinds)
    left, right = st.columns(2, gap="medium")
    with left:
        hidden = SIZES[pick("hidden", _("Hidden size H"), [str(size) for size in SIZES], default=SIZES.index(256))]
    with right:
        tokens = st.select_slider(_("Tokens T"), LENGTHS, 32, key="tokens", bind="query-params")
    networks = list(FORMULAS[kind])
    for box, network in zip(st.columns(len(networks)), networks, strict=True):
        part = flops(kind, network, tokens, hidden)
        with box, st.container(border=True):
            st.markdown(f"**{names[network]}**")
            st.latex(
                rf"\begin{{aligned}} &{formula(part.formula)} \\ =\;&{formula(part.numbers)} \\"
                rf" =\;&\mathbf{{{formula(f'{part.one:,}')}}} \end{{aligned}}"
            )
    st.caption(_("FLOPs of one layer for one sequence, forward; a multiplication and its addition count 2."))
    at = crossing(kind, hidden)
    counts = {names[n]: [flops(kind, n, length, hidden).one for length in LENGTHS] for n in networks}
    figure(
        partial(
            curves,
            LENGTHS,
            counts,
            xaxis=_("tokens T"),
            yaxis=_("FLOPs"),
            log=True,
            here=tokens,
            marks={at: f"T = {'H' if kind == 'mixing' else '2H'} = {at}"},
            height=360,
        ),
        _("FLOPs against T for H = {hidden}; equal at T = {at}.").format(hidden=hidden, at=at),
        "attention-cost",
        data=lambda: pd.DataFrame(counts, index=pd.Index(LENGTHS, name="T")),
    )
    if kind == "mixing":
        st.markdown(_("Equal at **T = H = {at}**, where 4·T²·H = 4·T·H².").format(at=at))
    else:
        st.markdown(
            _(
                "Attention and LSTM are equal at **T = 2H = {at}**, where 8·T·H² + 4·T²·H = 16·T·H². A plain recurrent "
                "network is cheaper than the whole attention layer at every length: 4·T·H² < 8·T·H²."
            ).format(at=at)
        )
    measured(names)


def formula(text: str) -> str:
    return text.replace("·", r" \cdot ").replace("²", "^2").replace(",", "{,}")


def measured(names: dict[str, str]) -> None:
    """Time the three layers on this machine when the user asks: FLOPs are not seconds."""
    import torch

    from plots.attention_experiments import curves

    hidden, heads = 256, 4
    label = _("Measure it on this machine, H = {hidden}").format(hidden=hidden)
    if st.button(label, icon=":material/timer:"):
        st.session_state["attention-measured"] = True
    if not st.session_state.get("attention-measured"):
        return
    with st.spinner(_("Measuring …")):
        times = {names[network]: [1000 * t for t in seconds] for network, seconds in timings(hidden, heads).items()}
    figure(
        partial(curves, TIMED, times, xaxis=_("tokens T"), yaxis=_("milliseconds"), log=True),
        _("Milliseconds at T = {last}: {times}.").format(
            last=TIMED[-1], times=_(", ").join(f"{name} {t[-1]:.2f}" for name, t in times.items())
        ),
        "attention-timings",
        data=lambda: pd.DataFrame(times, index=pd.Index(TIMED, name="T")),
    )
    st.caption(
        _(
            "One sequence through the whole layer, the best of 5 runs, {threads} processor threads. With few threads "
            "little is done at once, and waiting costs little; a GPU has thousands."
        ).format(threads=torch.get_num_threads())
    )
