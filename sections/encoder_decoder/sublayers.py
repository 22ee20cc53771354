"""The numbers at one step of the block: the input, the addend, the sum, and the output of LayerNorm."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.encoder_decoder.subject import finding, tell
from ui.figures import figure
from ui.inputs import clicked, pick, state
from ui.text import tex
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.block_arithmetic import OneBlock, Sublayer


def show(block: OneBlock, token: int, step: int) -> None:
    """The numbers of one token at a step of the block, 0 … 6."""
    half = block.attention if step < 4 else block.feed_forward
    if step == 0:
        _input(block, token)
    elif step in (1, 4):
        _added(block, half, token, step)
    elif step in (2, 5):
        _sum(half, token)
    else:
        _norm(half, token)


def length(vector: Any) -> float:
    return vector.double().norm().item()


def _input(block: OneBlock, token: int) -> None:
    x = block.attention.x[token].double()
    tell(
        (_("norm of x"), f"{length(x):.3f}"),
        (_("mean"), f"{x.mean().item():.4f}"),
        (_("variance"), f"{x.var(correction=0).item():.4f}"),
        (_("numbers (H)"), f"{len(x)}"),
    )
    _distribution({"x": x}, "ed-input")


def _added(block: OneBlock, half: Sublayer, token: int, step: int) -> None:
    from minibert.inside.block_arithmetic import cosine

    x, added = half.x[token], half.added[token]
    tell(
        (_("norm of what comes in"), f"{length(x):.3f}"),
        (_("norm of what is added"), f"{length(added):.3f}"),
        (_("ratio"), f"{length(added) / length(x):.1%}"),
        (_("cosine of the two"), f"{cosine(x, added).item():+.3f}"),
    )
    if step == 4:
        hidden = block.hidden[token]
        st.markdown(
            _("Of the **{all}** numbers in the middle (F), GELU leaves **{n}** above 0.1 for this token.").format(
                all=len(hidden), n=int((hidden > 0.1).sum())
            )
        )
    _distribution({"x": x.double(), _("added"): added.double()}, "ed-added")


def _sum(half: Sublayer, token: int) -> None:
    from minibert.inside.block_arithmetic import cosine

    x, added, total = half.x[token].double(), half.added[token].double(), half.sum[token]
    place = _strips({"x": x, "f(x)": added, "x + f(x)": total}, "ed-sum")
    st.latex(
        rf"\begin{{aligned}}x[{place + 1}] + f(x)[{place + 1}]"
        rf" &= {tex(x[place].item())} + {tex(added[place].item())} \\"
        rf"&= \mathbf{{{total[place].item():.4f}}}\end{{aligned}}"
    )
    tell(
        ("‖x‖", f"{length(x):.3f}"),
        ("‖f(x)‖", f"{length(added):.3f}"),
        ("‖x + f(x)‖", f"{length(total):.3f}"),
        (_("cosine of x and sum"), f"{cosine(x, total).item():+.3f}"),
    )


def _norm(half: Sublayer, token: int) -> None:
    from plots.attention import number

    s, out = half.sum[token], half.normalized[token]
    place = _strips({"s": s, "LN(s)": out}, "ed-norm")
    mean, variance = half.mean[token].item(), half.variance[token].item()
    gain, bias = half.norm.weight[place].item(), half.norm.bias[place].item()
    st.latex(
        rf"\begin{{aligned}}\mathrm{{LN}}(s)[{place + 1}] &= \frac{{{tex(s[place].item())} - {tex(mean)}}}"
        rf"{{\sqrt{{{variance:.4f} + \varepsilon}}}} \cdot {tex(gain)} + {tex(bias)} \\"
        rf"&= {tex(half.standardized[token, place].item())} \cdot {tex(gain)} + {tex(bias)}"
        rf" = \mathbf{{{out[place].item():.4f}}}\end{{aligned}}"
    )
    standardized = half.standardized[token]
    rows = {_("before"): s, _("standardised"): standardized, _("after gain and bias"): out}
    table = {
        "": list(rows),
        _("mean"): [number(row.mean().item(), 4) for row in rows.values()],
        _("variance"): [f"{row.var(correction=0).item():.4f}" for row in rows.values()],
        _("norm"): [f"{length(row):.3f}" for row in rows.values()],
    }
    st.table(pd.DataFrame(table).set_index(""))
    _distribution(rows, "ed-spread")


def _strips(rows: dict[str, Any], key: str) -> int:
    """The vectors one below the other; returns the index picked or clicked, from 0."""
    from plots.encoder_decoder import strips

    size = len(next(iter(rows.values())))
    with st.container(width=260):
        place = pick("number", _("Number of the vector"), [str(h + 1) for h in range(size)])
    figure(
        partial(strips, {name: row.numpy() for name, row in rows.items()}, place),
        _("The {n} numbers of each vector; number {place}: {values}.").format(
            n=size,
            place=place + 1,
            values=_(", ").join(f"{name} {row[place].item():.4f}" for name, row in rows.items()),
        ),
        key,
        on_select=lambda: clicked(key, state("number")),
        data=lambda: pd.DataFrame({name: row.numpy() for name, row in rows.items()}, index=range(1, size + 1)),
    )
    return place


def _distribution(rows: dict[str, Any], key: str) -> None:
    from plots.encoder_decoder import distribution

    details = _("; ").join(
        _("{name}: {low:.2f} … {high:.2f}, mean {mean:.3f}").format(
            name=name, low=row.min().item(), high=row.max().item(), mean=row.mean().item()
        )
        for name, row in rows.items()
    )
    spreads = _(", ").join(f"{name} ± {row.double().std(correction=0).item():.2f}" for name, row in rows.items())
    finding(_("How far the numbers lie from their mean: {spreads}").format(spreads=spreads))
    figure(
        partial(distribution, {name: row.numpy() for name, row in rows.items()}, _("the vector's numbers")),
        _("How the numbers of each vector are spread. {told}.").format(told=details),
        key,
    )
