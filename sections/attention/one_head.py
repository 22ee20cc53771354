"""One head: the picture of a word's attention, and below it every number of the formula, step by step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.attention import arcs
from sections.attention.arithmetic import rounding, show_bars, show_line, terms_in_words, terms_table
from sections.attention.cells import show_pairs
from sections.attention.subject import Inputs, Needs, drawn, pick_row, trace
from ui.figures import figure
from ui.inputs import numbered, pick
from ui.lesson import Lesson
from ui.stepper import stepper, words_first
from ui.text import tex
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.arithmetic import HeadTrace


def steps() -> list[tuple[str, str, str]]:
    """Per step: its label, its section in the lesson, and a substring of its line in the attention code."""
    return [
        (_("Q, K, V"), "Step: query, key, value", '{letter} = tap("'),
        (_("Q · Kᵀ"), "Step: query times key", 'tap("scores"'),
        (_("÷ √D"), "Step: divide by the root of D", 'tap("scores"'),
        (_("mask"), "Step: mask", 'tap("probs"'),
        (_("softmax"), "Step: softmax", 'tap("probs"'),
        (_("· V"), "Step: mix the values", 'tap("mixed"'),
    ]


def needs() -> Needs:
    return Needs.PADDING


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.heads.arithmetic import take_apart

    count = len(steps())
    arcs.show(inputs)
    step = stepper("step", [label for label, _section, _find in steps()], keyboard=False)
    label, section, find = steps()[step]
    if step == 0:
        lesson.show("The question", title=False)
    lesson.show(section, title=False)
    words_first()
    model, reading = inputs.subject.model, inputs.reading
    one = take_apart(model, reading.batch(), trace(inputs.subject, reading), inputs.layer, inputs.head)
    if step == 0:
        find = find.format(letter=step_vectors(inputs, one))
    elif step == count - 1:
        step_mix(inputs, one)
    else:
        show_pairs(inputs, one, step, label)
    show_line(type(model.bert.blocks[inputs.layer].attn), step, find)


def step_vectors(inputs: Inputs, one: HeadTrace) -> str:
    """Draw Q, K and V and the terms of one number; return the letter of the chosen matrix."""
    from plots.attention import dot_product, vectors

    reading = inputs.reading
    with st.container(horizontal=True):
        panel = pick("matrix", _("Matrix"), [_("Q, the queries"), _("K, the keys"), _("V, the values")])
        row = pick_row(inputs, _("Token (row)"))
        place = pick("number", _("Number of its vector (column)"), [str(d + 1) for d in range(one.size)])
    which, letter = ("query", "key", "value")[panel], "qkv"[panel]
    values, seen = getattr(one, which), drawn(inputs, row, padding=True)
    figure(
        partial(
            vectors,
            seen.tokens,
            {"Q": seen.of(one.query), "K": seen.of(one.key), "V": seen.of(one.value)},
            selected=(panel, seen.at(row), place),
            height=80 + 26 * max(10, len(seen.rows)),
        ),
        _("Three matrices, Q, K and V: {size} numbers in each for each of {count} tokens.").format(
            size=one.size, count=len(reading.tokens)
        ),
        "attention-vectors",
        on_select=lambda: seen.clicked("attention-vectors", "matrix", "row", "number"),
        data=lambda: pd.DataFrame(values.numpy(), index=numbered(reading.tokens)),
    )
    total = one.projection_terms(which, row, place)
    i, d, weight = row + 1, place + 1, f"W_{{{letter.upper()}}}"
    left, right = st.columns([11, 10], gap="medium")
    with left:
        terms_table(total, ("x", "W", "x · W"), "attention-projection-terms")
    with right:
        st.latex(
            rf"\begin{{aligned}} {letter}_{{{i}}}[{d}] &= \sum_{{h=1}}^{{{len(total.left)}}} x_{{{i}}}[h]\,"
            rf" {weight}[{d},h] + b[{d}] \\"
            rf" &= {tex(total.terms.sum().item())} + {tex(total.constant)} = \mathbf{{{total.total:.4f}}}"
            r" \end{aligned}"
        )
        rounding(total.total, values[row, place].item())
        figure(
            partial(dot_product, total.left, total.right, ("x", "W", "x · W"), height=300),
            terms_in_words(total),
            "attention-projection",
        )
    return letter


def step_mix(inputs: Inputs, one: HeadTrace) -> None:
    from plots.attention import number, vectors

    reading = inputs.reading
    left, right = st.columns([11, 10], gap="medium")
    with right, st.container(horizontal=True):
        row = pick_row(inputs, _("Token (row)"))
        place = pick("number", _("Number of its vector (column)"), [str(d + 1) for d in range(one.size)])
    seen = drawn(inputs, row, padding=True)
    i, d, total = row + 1, place + 1, one.mix_terms(row, place)
    value = f"v_j[{d}]" if one.relative is None else f"(v_j[{d}] + r_{{{i},j}}[{d}])"
    with left:
        figure(
            partial(
                vectors,
                seen.tokens,
                {_("What the head hands on"): seen.of(one.mixed)},
                selected=(0, seen.at(row), place),
            ),
            _("{count} tokens with {size} numbers each. {row}, number {d}: {value:.4f}.").format(
                count=len(reading.tokens), size=one.size, row=reading.tokens[row], d=d, value=total.total
            ),
            "attention-mixed",
            on_select=lambda: seen.clicked("attention-mixed", "panel", "row", "number"),
            data=lambda: pd.DataFrame(one.mixed.numpy(), index=numbered(reading.tokens)),
        )
    with right:
        st.latex(
            rf"z_{{{i}}}[{d}] = \sum_{{j=1}}^{{{len(reading.tokens)}}} p_{{{i},j}}\, {value}"
            rf" = \mathbf{{{total.total:.4f}}}"
        )
        texts = [
            f"{number(p, 3)} · {f'({number(v)})' if v < 0 else number(v)} = {number(t, 3)}"
            for p, v, t in zip(total.left.tolist(), total.right.tolist(), total.terms.tolist(), strict=True)
        ]
        show_bars(seen, total.terms.tolist(), texts, None, "attention-mix")
        rounding(total.total, one.mixed[row, place].item())
