"""The central picture: a permutation, its two masks, and the reason why a chosen cell is open or masked."""

import html
from functools import partial

import streamlit as st

from plots.xlnet import GUESSED, OPEN, SHUT, two_masks
from sections.xlnet.subject import Inputs, pick_cell, streams
from ui.figures import figure, legend
from ui.inputs import clicked, state
from ui.limits import say_left_out
from ui.page import picture
from ui.pairs import warn_unknown
from ui.text import literal, visible
from ui.translations import _


def show(inputs: Inputs) -> None:
    with picture():
        if not inputs.tokens:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        masks = both_masks(inputs)
        stream, row, column = inputs.cell
        st.html(order_html(inputs))
        st.markdown(reason(inputs, masks[stream][row][column]))
        words = [visible(token) for token in inputs.tokens]
        titles = [_("Content stream: knows its own word"), _("Query stream: knows its place only")]
        listed = _("; ").join(
            words[n]
            + _(": ")
            + (_(", ").join(word for word, open_ in zip(words, masks[1][n], strict=True) if open_) or "–")
            for n in range(len(words))
        )
        axes, panels = (_("who looks ↓ at whom →"), ""), dict(zip(titles, masks, strict=True))
        figure(
            partial(two_masks, words, panels, inputs.guessed, inputs.cell, axes),
            _("Both masks of this order. What each word’s query sees – {told}.").format(told=listed),
            "orders",
            on_select=lambda: clicked("orders", state("stream"), state("row"), state("column")),
            wide=True,
        )
        guessed = (GUESSED, "■", _("may look, and its word is guessed"))
        legend([(OPEN[0], "■", _("may look")), guessed, (SHUT[0], "×", _("may not"))])
        pick_cell(inputs)
        say_left_out(inputs.cut)
        warn_unknown(inputs.tokens)


def both_masks(inputs: Inputs) -> tuple[list[list[bool]], list[list[bool]]]:
    """Content mask and query mask, (T, T) each."""
    import torch

    from minibert.relatives.parts.permutation import content_mask, query_mask

    order = torch.tensor([list(inputs.order)])
    return content_mask(order)[0].tolist(), query_mask(order)[0].tolist()


def order_html(inputs: Inputs) -> str:
    """The words with their rank in the order, targets marked; safe HTML."""
    items = "".join(
        f'<li class="{"guessed" if guessed else "given"}"><bdi>{html.escape(visible(token))}</bdi><b>{place}</b></li>'
        for token, place, guessed in zip(inputs.tokens, inputs.order, inputs.guessed, strict=True)
    )
    return f'<ol class="mb-xlnet" aria-label="{html.escape(_("when each word is read"))}">{items}</ol>'


def reason(inputs: Inputs, may: bool) -> str:
    stream, row, column = inputs.cell
    one, other = (literal(visible(inputs.tokens[place])) for place in (row, column))
    head = _("**{one} → {other}, {stream}: {answer}.**").format(
        one=f"“{one}”", other=f"“{other}”", stream=streams()[stream], answer=_("yes") if may else _("no")
    )
    if row == column:
        why = (
            _("A token’s content vector holds its own word: later ones will need it.")
            if stream == 0
            else _("This word is predicted: its query knows its place, but not the word.")
        )
    else:
        words = (
            _("“{other}” is read as number {b}, before number {a}: it is known by then.")
            if may
            else _("“{other}” is read as number {b}, after number {a}: it is not known yet.")
        )
        why = words.format(other=other, a=inputs.order[row], b=inputs.order[column])
    return f"{head} {why}"
