"""The gates of an LSTM at every word of the class's sentence: what it lets in, what it keeps, what it shows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.attention.rnn_reader import Reading, networks, read
from sections.attention.subject import Inputs
from ui.figures import figure
from ui.inputs import choice, numbered, pick
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import tex
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.relatives.recurrent import LstmStep


def names() -> dict[str, str]:
    return {"input": _("input gate"), "forget": _("forget gate"), "output": _("output gate")}


@st.cache_resource(show_spinner=False, max_entries=64)
def steps(ids: tuple[int, ...]) -> LstmStep:
    """The forward LSTM's gates and states at each token. Shared by all sessions: read-only."""
    import torch

    from minibert.inside.relatives.recurrent import read as read_through

    lm = networks()[0]
    with torch.no_grad():
        return read_through(lm.forwards, lm.token(torch.tensor(ids)))


def show(lesson: Lesson, inputs: Inputs) -> None:
    reading = read(lesson, inputs.text)
    if reading is not None:
        picture(reading)
        lesson.show("What a recurrent network keeps", title=False)
        arithmetic(reading)


@st.fragment
def picture(reading: Reading) -> None:
    from plots.recurrent import gates

    done, tokens = steps(reading.ids), reading.tokens
    gates_read = {gate: getattr(done, gate).clone() for gate in names()}  # (T, H) each
    gates_read["forget"][0] = float("nan")  # before the first token there is nothing to forget
    means = {title: gates_read[gate].mean(-1) for gate, title in names().items()}  # (T,) each
    least = int(means[names()["forget"]][1:].argmin()) + 1
    opened = int(means[names()["input"]].argmax())
    title = _(
        "At “{word}” most is forgotten (forget gates {kept:.0%} open, the mean of {n}), at “{other}” most is written "
        "(input gates {let:.0%})"
    )
    summary = title.format(
        n=done.forget.size(-1),
        word=tokens[least],
        kept=means[names()["forget"]][least].item(),
        other=tokens[opened],
        let=means[names()["input"]][opened].item(),
    )
    gate = choice(
        "gate", _("Below, the numbers of the"), {name: names()[name] for name in ("forget", "input", "output")}
    )
    count = done.forget.size(-1)
    figure(
        partial(
            gates,
            tokens,
            {name: values.tolist() for name, values in means.items()},
            gates_read[gate].numpy(),
            _("{n} numbers").format(n=count),
            summary,
        ),
        summary,
        "attention-rnn-gates",
        data=lambda: pd.DataFrame({name: values.numpy() for name, values in means.items()}, index=numbered(tokens)),
        wide=True,
    )


@st.fragment
def arithmetic(reading: Reading) -> None:
    """One number of the cell at one word, with the numbers that made it."""
    from minibert.inside.relatives.recurrent import step

    done = steps(reading.ids)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        word = pick("read", _("Word"), numbered(reading.tokens), default=min(2, len(reading.tokens) - 1), width=220)
        units = [str(n + 1) for n in range(done.cell.size(-1))]
        unit = pick("unit", _("Number of the state"), units, width=220)
    before = done.cell[word - 1, unit].item() if word else 0.0
    f, i, g, o, c, h = (
        getattr(done, name)[word, unit].item() for name in ("forget", "input", "offered", "output", "cell", "hidden")
    )
    t, u = word + 1, unit + 1
    st.latex(
        rf"\begin{{aligned}} c_{{{t}}}[{u}] &= f \cdot c_{{{word}}}[{u}] + i \cdot g \\"
        rf"&= {tex(f)} \cdot {tex(before)} + {tex(i)} \cdot {tex(g)} = \mathbf{{{tex(c)}}} \\"
        rf"h_{{{t}}}[{u}] &= o \cdot \tanh c_{{{t}}}[{u}] \\"
        rf"&= {tex(o)} \cdot \tanh {tex(c)} = \mathbf{{{tex(h)}}} \end{{aligned}}"
    )
    show_source(step, "cell = f * cell")
