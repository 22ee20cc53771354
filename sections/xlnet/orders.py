"""The central picture: a permutation, its two masks, and the reason why a chosen cell is open or masked."""

import html

import streamlit as st

from plots.xlnet import GUESSED, OPEN, SHUT, two_masks
from sections.xlnet.subject import Subject, streams
from ui.figures import figure, legend
from ui.inputs import clicked, state
from ui.page import picture
from ui.text import literal, visible
from ui.translations import _, ngettext


def show(seen: Subject) -> None:
    with picture():
        if not seen.tokens:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        masks = both_masks(seen)
        stream, row, column = seen.cell
        st.html(order_html(seen))
        st.markdown(reason(seen, masks[stream][row][column]))
        words = [visible(token) for token in seen.tokens]
        titles = [_("Content stream: knows its own word"), _("Query stream: knows its place only")]
        told = "; ".join(
            f"{words[n]}: {', '.join(word for word, open_ in zip(words, masks[1][n], strict=True) if open_) or '–'}"
            for n in range(len(words))
        )
        figure(
            two_masks(
                words, dict(zip(titles, masks, strict=True)), seen.guessed, seen.cell, (_("who looks ↓ at whom →"), "")
            ),
            _("Both masks of this order. What each word’s query sees – {told}.").format(told=told),
            "orders",
            on_select=lambda: clicked("orders", state("stream"), state("row"), state("column")),
            wide=True,
        )
        legend(
            [
                (OPEN[0], "■", _("may look")),
                (GUESSED, "■", _("may look, and its word is guessed")),
                (SHUT[0], "×", _("may not")),
            ]
        )
        if seen.cut:
            left_out = ngettext("{n} word more is not drawn.", "{n} words more are not drawn.", seen.cut)
            st.caption(left_out.format(n=seen.cut))
        unknown(seen)


def both_masks(seen: Subject) -> tuple[list[list[bool]], list[list[bool]]]:
    """Content mask and query mask, (T, T) each."""
    import torch

    from minibert.relatives.parts.permutation import content_mask, query_mask

    order = torch.tensor([list(seen.order)])
    return content_mask(order)[0].tolist(), query_mask(order)[0].tolist()


def order_html(seen: Subject) -> str:
    """The words with their rank in the order, targets marked; safe HTML."""
    items = "".join(
        f'<li class="{"guessed" if guessed else "given"}"><bdi>{html.escape(visible(token))}</bdi><b>{place}</b></li>'
        for token, place, guessed in zip(seen.tokens, seen.order, seen.guessed, strict=True)
    )
    return f'<ol class="mb-xlnet" aria-label="{html.escape(_("when each word is read"))}">{items}</ol>'


def reason(seen: Subject, may: bool) -> str:
    """Why the chosen cell is open or masked, in one line of Markdown."""
    stream, row, column = seen.cell
    one, other = (literal(visible(seen.tokens[place])) for place in (row, column))
    head = _("**{one} → {other}, {stream}: {answer}.**").format(
        one=f"“{one}”", other=f"“{other}”", stream=streams()[stream], answer=_("yes") if may else _("no")
    )
    if row == column:
        why = (
            _("A token’s content vector holds its own word: later ones will need it.")
            if stream == 0
            else _("The word is what is to be guessed: its query knows its place, and nothing else of it.")
        )
    else:
        words = (
            _("“{other}” is read as number {b}, before number {a}: it is known by then.")
            if may
            else _("“{other}” is read as number {b}, after number {a}: it is not known yet.")
        )
        why = words.format(other=other, a=seen.order[row], b=seen.order[column])
    return f"{head} {why}"


def unknown(seen: Subject) -> None:
    """A note on how many words are [UNK], for both models."""
    count = sum(token == "[UNK]" for token in seen.tokens)
    if count:
        words = _("{n} of your words are not in these models’ vocabulary: both read {unk} there.")
        st.caption(words.format(n=count, unk=literal("[UNK]")))
