"""A pair and a padded single sentence in one batch: attention between the sentences, and the effect of padding."""

from __future__ import annotations

import streamlit as st

from sections.attention.subject import DRAWN, Inputs, aside, read_whole, tiny
from ui.source import show_source
from ui.text import kind_of, show_tokens
from ui.translations import _
from ui.window import around, say_drawn

CHIPS = 2 * DRAWN  # most tokens of a row: they take four lines


@st.fragment
def show(inputs: Inputs) -> None:
    import torch

    from minibert.attention_masks import padding_mask
    from minibert.inside.heads.arithmetic import all_probs, crossing, record
    from minibert.model import Batch

    name, text = inputs.subject.name, inputs.text
    pair, alone = read_whole(name, text, inputs.second or _("It was very hungry.")), read_whole(name, text, "")
    longest = max(pair.length, alone.length)
    rows = [one.padded(longest - one.length) for one in (pair, alone)]
    drawn = around(longest, CHIPS, pair.segments.index(1))  # where the second sentence begins, or the padding
    say_drawn(longest, len(drawn), follows=False)
    for title, row in zip((_("A pair"), _("The first sentence alone, padded")), rows, strict=True):
        st.markdown(f"**{title}**")
        tokens = [row.tokens[i] for i in drawn]
        kinds = [
            "faded" if i >= row.length else "kept" if row.segments[i] and kind_of(token) == "plain" else kind_of(token)
            for i, token in zip(drawn, tokens, strict=True)
        ]
        mask = [_("mask {n}").format(n=int(i < row.length)) for i in drawn]
        show_tokens(tokens, under=mask, kinds=kinds, label=title)
    one_by_one = [row.batch() for row in rows]
    batch = Batch(*(torch.cat([getattr(one, name) for one in one_by_one]) for name in ("ids", "segments", "padding")))
    bert = inputs.subject.model.bert
    both = record(bert, batch)
    n = pair.length
    probs, second = all_probs(both)[:, 0, :, :n, :n], torch.tensor(pair.segments, dtype=torch.bool)
    there, back = crossing(probs, second)
    to_cls = probs[..., second, 0].mean().item()
    last = f"blocks.{bert.config.num_hidden_layers - 1}.out"
    difference = both[last][1, : alone.length] - record(bert, alone.batch())[last][0]
    boxes = st.columns(3)
    boxes[0].metric(_("First → second sentence"), f"{there:.1%}")
    aside(
        boxes[1],
        _("Second → first sentence"),
        f"{back:.1%}",
        _("{share:.1%} to [CLS], the rest to its words").format(share=to_cls),
    )
    boxes[2].metric(_("Padded against alone"), tiny(difference.abs().max().item()))
    st.caption(
        _(
            "Attention that crosses from one sentence to the other, mean of all heads; and the largest difference "
            "between the outputs for the single sentence with and without padding. The mask has the shape {shape}: a "
            "row for each sequence, the same for all its heads and tokens."
        ).format(shape=tuple(padding_mask(batch.padding).shape))
    )
    show_source(padding_mask, "return")
