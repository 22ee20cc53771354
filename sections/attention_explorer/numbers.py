"""The numbers behind one token or word of a head: its exact attention weights, and the arithmetic of one pair."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from sections.attention_explorer.subject import ModelText, Seen, inside
from ui.inspected_model import HeadPlace, head_name
from ui.text import literal, tex
from ui.translations import _


def show(
    side: ModelText, of: Seen, at: HeadPlace, row: int | None, column: int | None, key: str, *, wide: bool
) -> None:
    """of: the tokens or words of the side · wide: whether there is room for the text beside the numbers."""
    from minibert.inside.heads.arithmetic import entropy

    if row is None:
        st.caption(_("Click a word on the left to see where it looks, one on the right to see who looks at it."))
        return
    layer, head = at
    names, probs = of.names, of.probs[layer, head, row]
    order = probs.argsort(descending=True).tolist()
    rows = order[:8] if column is None or column in order[:8] else [*order[:7], column]
    left, right = st.columns(2, gap="medium") if wide else (st.container(), st.container())
    left.dataframe(
        pd.DataFrame(
            {
                _("to"): [f"{place + 1} · {names[place]}" for place in rows],
                _("share"): [100 * probs[place].item() for place in rows],
            }
        ),
        hide_index=True,
        key=f"explorer-numbers-{key}",
        column_config={_("share"): st.column_config.NumberColumn(format="%.1f%%")},
    )
    rest = 1 - sum(probs[place].item() for place in rows)
    with right:
        st.caption(
            _("{head}. From {token}; all others together {rest:.1%}. Entropy {bits:.2f} of {most:.2f} bits.").format(
                head=head_name(layer, head).capitalize(),
                token=literal(f"{row + 1} · {names[row]}"),
                rest=max(0.0, rest),
                bits=entropy(probs).item(),
                most=math.log2(len(probs)),
            )
        )
        if column is None:
            st.caption(_("Click a word on the right to see the arithmetic of one share."))
        elif of.pieces is None:
            arithmetic(side, at, row, column)
        else:
            from_pieces(side, of, at, row, column, key)


def from_pieces(side: ModelText, of: Seen, at: HeadPlace, row: int, column: int, key: str) -> None:
    """How the attention of one word to another comes from that of their pieces: sums of rows, and their mean."""
    tokens, (looking, looked_at) = side.reading.tokens, (of.pieces[row], of.pieces[column])
    weights = inside(side.subject, side.reading)["probs"][*at][list(looking)][:, list(looked_at)]
    table = pd.DataFrame(
        weights.numpy(), [tokens[i] for i in looking], [f"{j + 1} · {tokens[j]}" for j in looked_at]
    ).assign(**{_("sum"): weights.sum(1).numpy()})
    st.dataframe(table.style.format("{:.6f}"), key=f"explorer-pieces-{key}")
    st.markdown(
        _("To **{to}**: the sum over its pieces. From **{word}**: the mean of its pieces, **{share:.6f}**.").format(
            to=literal(of.names[column]), word=literal(of.names[row]), share=of.probs[*at, row, column].item()
        )
    )


def arithmetic(side: ModelText, at: HeadPlace, row: int, column: int) -> None:
    """The arithmetic from query and key to the attention weight of one pair."""
    from minibert.inside.heads.arithmetic import SoftmaxRow

    tensors, (layer, head) = inside(side.subject, side.reading), at
    query, k = tensors["query"][layer, head, row].double(), tensors["key"][layer, head].double()
    i, j, keys, products = row + 1, column + 1, f"k_{{{column + 1}}}", k @ query
    relative = tensors["relative_scores"][layer, head, row] if "relative_scores" in tensors else None
    if "distances" in tensors:  # XLNet adds a number to the product, NEZHA a vector to the key
        keys, products = f"{keys} + d_{{{i},{j}}}", products + relative
    elif relative is not None:
        keys, products = f"({keys} + r_{{{i},{j}}})", products + relative
    soft = SoftmaxRow((products / math.sqrt(len(query))).masked_fill(~tensors["allowed"][row], -math.inf))
    less = f" - {soft.shift:.1f}" if soft.shift else ""
    share = tensors["probs"][layer, head, row, column].item()
    st.latex(
        rf"\begin{{aligned}} s_{{{i},{j}}} &= \frac{{q_{{{i}}} \cdot {keys}}}{{\sqrt{{{len(query)}}}}}"
        rf" = {tex(soft.scores[column].item())} \\ p_{{{i},{j}}} &="
        rf" \frac{{e^{{{tex(soft.scores[column].item())}{less}}}}}{{{tex(soft.total)}}}"
        rf" = \mathbf{{{share:.6f}}} \end{{aligned}}"
    )
