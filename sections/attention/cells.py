"""The steps whose matrix is T × T: products, scores, masked scores, shares; each cell with its arithmetic."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.attention.arithmetic import rounding, show_bars, terms_in_words, terms_table
from sections.attention.subject import Drawn, Inputs, axes, drawn, pick_row, square
from ui.figures import figure
from ui.inputs import numbered, pick
from ui.text import tex
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.arithmetic import HeadTrace
    from minibert.inside.model_input import ModelInput


def show_pairs(inputs: Inputs, one: HeadTrace, step: int, name: str) -> None:
    """The steps whose matrix is T × T: products, scores, masked scores, shares."""
    from plots.attention import attention_matrix

    reading = inputs.reading
    values = (None, one.products, one.scores, one.masked, one.probs)[step]
    chart = "attention-pairs"  # one key for all these steps: the browser then redraws one picture
    left, right = st.columns([11, 10], gap="medium")
    with right, st.container(horizontal=True):
        row = pick_row(inputs, _("From (row)"))
        column = pick("column", _("To (column)"), numbered(reading.tokens), default=2)
    seen = drawn(inputs, row, padding=True)
    framed = (seen.at(row), seen.at(column))
    with left:
        figure(
            partial(
                attention_matrix,
                seen.tokens,
                seen.square(values),
                kind="probs" if step == 4 else "scores",
                selected=None if None in framed else framed,
                axes=axes(),
            ),
            _("{matrix}, {count} × {count} tokens. From {row} to {column}: {value:.4f}.").format(
                matrix=name,
                count=len(reading.tokens),
                row=reading.tokens[row],
                column=reading.tokens[column],
                value=values[row, column].item(),
            ),
            chart,
            on_select=lambda: seen.clicked(chart, "row", "column"),
            data=lambda: square(values, reading.tokens),
        )
        if step == 1:
            names = ("q", "k", "q · k") if one.relative is None else ("q", "k + r", "q · (k + r)")
            terms_table(one.score_terms(row, column), names, "attention-product-terms")
    with right:
        (show_product, show_scaling, show_mask, show_softmax)[step - 1](reading, seen, one, row, column)


def show_product(reading: ModelInput, seen: Drawn, one: HeadTrace, row: int, column: int) -> None:
    from plots.attention import dot_product

    total = one.score_terms(row, column)
    i, token = row + 1, reading.tokens[column]
    product, term = product_formula(one, row, column), rf"k_{{{column + 1}}}[d]"
    names = (f"q {reading.tokens[row]}", f"k {token}", "q · k")
    if one.relative is not None:
        term = rf"(k_{{{column + 1}}}[d] + r_{{{i},{column + 1}}}[d])"
        names = (names[0], f"k {token} + r", "q · (k + r)")
    st.latex(
        rf"\begin{{aligned}} {product} &= \sum_{{d=1}}^{{{one.size}}} q_{{{i}}}[d]\, {term} \\"
        rf" &= {tex(total.left[0].item())} \cdot {tex(total.right[0].item())} + \dots \\"
        rf" &= \mathbf{{{total.total:.4f}}} \end{{aligned}}"
    )
    if one.relative is not None:
        st.caption(
            _("r: the fixed vector for the distance from one token to the other, here {d:+d}.").format(d=column - row)
        )
    figure(partial(dot_product, total.left, total.right, names, height=300), terms_in_words(total), "attention-product")
    rounding(total.total, one.products[row, column].item())


def product_formula(one: HeadTrace, row: int, column: int) -> str:
    """The product before division by √D, in TeX."""
    i, j = row + 1, column + 1
    return rf"q_{{{i}}} \cdot " + (rf"k_{{{j}}}" if one.relative is None else rf"(k_{{{j}}} + r_{{{i},{j}}})")


def show_scaling(reading: ModelInput, seen: Drawn, one: HeadTrace, row: int, column: int) -> None:
    from plots.attention import number

    product, score, root = one.products[row, column].item(), one.scores[row, column].item(), math.sqrt(one.size)
    st.latex(
        rf"\frac{{{product_formula(one, row, column)}}}{{\sqrt{{D}}}}"
        rf" = \frac{{{product:.4f}}}{{\sqrt{{{one.size}}}}}"
        rf" = \frac{{{product:.4f}}}{{{root:.4g}}} = \mathbf{{{score:.4f}}}"
    )
    texts = [
        f"{number(p)} / {root:.4g} = {number(s)}"
        for p, s in zip(one.products[row].tolist(), one.scores[row].tolist(), strict=True)
    ]
    show_bars(seen, one.scores[row].tolist(), texts, column, "attention-scaling")
    st.markdown(
        _("Spread of all {n} numbers (standard deviation): **{before:.2f}** before, **{after:.2f}** after.").format(
            n=one.scores.numel(), before=one.products.std().item(), after=one.scores.std().item()
        )
    )


def show_mask(reading: ModelInput, seen: Drawn, one: HeadTrace, row: int, column: int) -> None:
    from plots.attention import number

    score, masked = one.scores[row, column].item(), one.masked[row, column].item()
    st.latex(rf"{tex(score)} \;\longrightarrow\; \mathbf{{{tex(masked)}}}")
    if one.allowed[row, column]:
        st.markdown(_("A real token: its column stays open."))
    else:
        st.markdown(_("Padding: its column is closed for everyone."))
    pairs = list(zip(one.scores[row].tolist(), one.masked[row].tolist(), strict=True))
    texts = [number(before) + (" → −∞" if math.isinf(after) else "") for before, after in pairs]
    lengths = [0.0 if math.isinf(after) else after for _before, after in pairs]
    show_bars(seen, lengths, texts, column, "attention-masked")
    if not reading.padding:
        st.info(_("There is no padding now, so nothing is closed. Add some above."), icon=":material/info:")


def show_softmax(reading: ModelInput, seen: Drawn, one: HeadTrace, row: int, column: int) -> None:
    from plots.attention import number

    soft = one.softmax_row(row)
    less = f" - {soft.shift:.1f}" if soft.shift else ""
    power, share = soft.powers[column].item(), soft.probs[column].item()
    st.latex(
        rf"p_{{{row + 1},{column + 1}}} = \frac{{e^{{{tex(soft.scores[column].item())}{less}}}}}"
        rf"{{\sum_j e^{{s_{{{row + 1},j}}{less}}}}} = \frac{{{tex(power)}}}{{{tex(soft.total)}}}"
        rf" = \mathbf{{{share:.4f}}}"
    )
    texts = [
        f"{number(power)} / {number(soft.total)} = {number(share, 3)}"
        for power, share in zip(soft.powers.tolist(), soft.probs.tolist(), strict=True)
    ]
    show_bars(seen, soft.powers.tolist(), texts, column, "attention-softmax")
    rounding(share, one.probs[row, column].item())
