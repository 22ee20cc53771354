"""The numbers behind a cell: sums term by term, rows of a matrix, and the line of code that computed them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from ui.figures import figure
from ui.source import show_source, source_of
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.arithmetic import SumOfProducts
    from sections.attention.subject import Drawn


def show_bars(seen: Drawn, lengths: list[float], texts: list[str], chosen: int | None, key: str) -> None:
    """A row of the matrix: one bar per token drawn, with its arithmetic. lengths, texts: of all tokens."""
    from plots.attention import token_bars

    chosen = None if chosen is None else seen.at(chosen)
    figure(
        partial(token_bars, seen.tokens, seen.of(lengths), seen.of(texts), selected=chosen),
        _("; ").join(f"{token}{_(': ')}{text}" for token, text in zip(seen.tokens, seen.of(texts), strict=True)),
        key,
    )


def terms_in_words(total: SumOfProducts) -> str:
    terms = total.terms
    return _("{count} products between {low:.4f} and {top:.4f}; their sum is {sum:.4f}.").format(
        count=len(terms), low=terms.min().item(), top=terms.max().item(), sum=terms.sum().item()
    )


def terms_table(total: SumOfProducts, names: tuple[str, str, str], key: str) -> None:
    """Every term of a sum, with the running sum."""
    columns = (total.left, total.right, total.terms, total.terms.cumsum(0))
    table = pd.DataFrame(
        {name: column.numpy() for name, column in zip((*names, _("sum so far")), columns, strict=True)},
        index=pd.RangeIndex(1, len(total.terms) + 1, name=_("term")),
    )
    st.markdown(f"**{_('All {n} terms').format(n=len(table))}**")
    six = {name: st.column_config.NumberColumn(format="%.6f") for name in table.columns}
    st.dataframe(table, height=250, key=key, column_config=six)


def rounding(exact: float, model: float) -> None:
    """The number from exact arithmetic beside the rounded one that the model used."""
    from plots.attention import number

    st.caption(
        _("In exact arithmetic {exact}; the model, with 32-bit numbers, went on with {model}.").format(
            exact=number(exact, 8), model=number(model, 8)
        )
    )


def show_line(attention: type, step: int, find: str) -> None:
    """The line of the running code that computed this step. attention: the class of the layer's attention · find: what
    the line contains."""
    from minibert.model import masked_softmax

    method = attention.attend if step else attention.forward
    lines, start, path = source_of(method)
    at = start + next(offset for offset, line in enumerate(lines) if find in line)
    label = _("The line of code that computed this: {where}").format(where=f"`{path}:{at}`")
    show_source(method, find, label=label)
    if step in (3, 4):
        inside = "masked_fill" if step == 3 else "softmax(dim"
        show_source(masked_softmax, inside, label=_("… and what it calls: `masked_softmax`"))
