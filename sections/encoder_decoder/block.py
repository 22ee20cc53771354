"""The block both halves are built from: one token's path through it, and how much of its vector each block keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.encoder_decoder import sublayers
from sections.encoder_decoder.subject import DRAWN, Inputs, finding
from ui.figures import figure
from ui.inputs import clicked, numbered, pick, state
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.model_widgets import warn_untrained
from ui.page import picture
from ui.source import show_source
from ui.stepper import stepper
from ui.text import literal, visible
from ui.translations import _
from ui.window import following, say_drawn, with_first

if TYPE_CHECKING:
    from minibert.inside.block_arithmetic import OneBlock
    from minibert.inside.model_input import ModelInput

# torch, and all that imports it, is imported where it is first needed: the page shows before that.


@st.cache_resource(show_spinner=False, max_entries=8)  # half a megabyte of 16 tokens, 3 of 70
def trace(model: str, version: int, reading: ModelInput) -> dict:
    """Every intermediate tensor of the encoder, shared by all sessions: read-only."""
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.inside.heads.arithmetic import record

    return record(encoder_of(load(model).model), reading.batch())


@dataclass(frozen=True)
class BlockStep:
    """One step through a block. box: its name in the figure · section: of the lesson."""

    label: str
    box: str
    section: str


def places() -> list[BlockStep]:
    return [
        BlockStep(_("Input"), "x", "Step: what comes in"),
        BlockStep(_("Attention"), _("attention"), "Step: attention"),
        BlockStep(_("Add"), "+", "Step: add"),
        BlockStep(_("Norm"), _("LayerNorm"), "Step: LayerNorm"),
        BlockStep(_("Feed-forward"), _("feed-forward"), "Step: feed-forward"),
        BlockStep(_("Add"), "+", "Step: add"),
        BlockStep(_("Norm"), _("LayerNorm"), "Step: LayerNorm"),
    ]


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The circuit and the numbers of its highlighted step, then all blocks together."""
    from minibert.inside.block_arithmetic import take_block_apart
    from minibert.inside.model_input import ModelInput

    warn_untrained(inputs.model)
    loaded = load(inputs.model)
    reading = ModelInput.of(loaded.tokenizer, inputs.text, None, loaded.config.longest)
    count = loaded.config.num_hidden_layers
    tokens = [visible(token) for token in reading.tokens]
    step = stepper("step", [place.label for place in places()])
    title = st.container()
    left, right = st.columns([5, 9], gap="medium")
    with right, st.container(horizontal=True):
        layer = pick("layer", _("Layer"), [_("{n} of {all}").format(n=n + 1, all=count) for n in range(count)])
        token = pick("token", _("Token"), numbered(tokens), default=1)
    record = trace(inputs.model, version_of(inputs.model), reading)
    block = take_block_apart(loaded.model, record, layer)
    with title:
        finding(_found(block, token, tokens[token], layer))
    with left, picture():
        _circuit(block, token, step, tokens[token])
    with right:
        lesson.show(places()[step].section, title=False)
        sublayers.show(block, token, step)
    lesson.show("The block", title=False)
    _source(step)
    shown = with_first(following("block", inputs.text, len(tokens), DRAWN, token))
    _kept(lesson, record, tokens, layer, token, shown)


def _found(block: OneBlock, token: int, word: str, layer: int) -> str:
    """The norm that each half adds, relative to its input's, as a title."""
    shares = [
        sublayers.length(half.added[token]) / sublayers.length(half.x[token])
        for half in (block.attention, block.feed_forward)
    ]
    return _(
        "Layer {layer}, “{word}”: attention adds {first:.0%} of the vector’s length, feed-forward {second:.0%}"
    ).format(layer=layer + 1, word=literal(word), first=shares[0], second=shares[1])


def _circuit(block: OneBlock, token: int, step: int, word: str) -> None:
    from plots.encoder_decoder import block_circuit

    first, second = block.attention, block.feed_forward
    vectors = (first.x, first.added, first.sum, first.out, second.added, second.sum, second.out)
    notes = [_("‖·‖ {n:.2f}").format(n=sublayers.length(vector[token])) for vector in vectors]
    figure(
        partial(block_circuit, [place.box for place in places()], notes, step),
        _("The block, from bottom to top, with the length of the vector of {token} at each place: {notes}.").format(
            token=word, notes=_(", ").join(f"{p.label} {n}" for p, n in zip(places(), notes, strict=True))
        ),
        "ed-circuit",
        on_select=lambda: clicked("ed-circuit", "step-step"),
    )


def _source(step: int) -> None:
    if step == 4:
        from minibert.model import FeedForward

        show_source(FeedForward.forward)
    else:
        from minibert.model import Block

        show_source(Block.forward, 'tap("attn.norm"' if step < 4 else 'tap("out"')


def _kept(lesson: Lesson, record: dict, tokens: list[str], layer: int, token: int, shown: tuple[int, ...]) -> None:
    """shown: positions of the tokens drawn."""
    from minibert.inside.block_arithmetic import kept_by_layer
    from plots.encoder_decoder import grid

    lesson.show("How much is kept", level=3)
    cosines = kept_by_layer(record)  # (L, T)
    rows = [_("layer {n}").format(n=n + 1) for n in range(len(cosines))]
    means = cosines.mean(1)
    finding(
        _("Layer {most} changes least (cosine {high:.2f} on average), layer {least} most ({low:.2f})").format(
            most=int(means.argmax()) + 1, high=means.max().item(), least=int(means.argmin()) + 1, low=means.min().item()
        )
    )
    say_drawn(len(tokens), len(shown))
    figure(
        partial(
            grid,
            cosines[:, list(shown)].numpy(),
            rows,
            [tokens[i] for i in shown],
            selected=(layer, shown.index(token)),
            low=min(0.0, cosines.min().item()),
        ),
        _("Cosine between input and output of each layer. {token} in layer {layer}: {value:.3f}.").format(
            token=tokens[token], layer=layer + 1, value=cosines[layer, token].item()
        ),
        "ed-kept",
        on_select=lambda: _clicked_kept(shown),
        wide=True,
        data=lambda: pd.DataFrame(cosines.numpy(), index=rows, columns=numbered(tokens)),
    )


def _clicked_kept(shown: tuple[int, ...]) -> None:
    clicked("ed-kept", state("layer"), state("token"))
    st.session_state[state("token")] = shown[min(st.session_state[state("token")], len(shown) - 1)]
