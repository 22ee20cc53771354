"""A model's predictions at blanks, as bars: one panel per blank."""

from functools import partial

import streamlit as st

from ui.figures import figure, legend
from ui.text import visible
from ui.translations import _


def around(tokens: list[str], position: int, width: int = 2) -> str:
    """A token and its neighbours, as the title of a panel."""
    first, last = max(1, position - width), min(len(tokens) - 1, position + width + 1)
    middle = " ".join(visible(token) for token in tokens[first:last])
    return f"{'… ' if first > 1 else ''}{middle}{' …' if last < len(tokens) - 1 else ''}"


def panel(tokenizer, log_probs, k: int, title: str, marked: dict[int, str]):
    """Bars for one position: the k likeliest tokens, then the tokens of `marked` (id → role) not among them, with their
    rank."""
    from minibert.inside.predictions.cloze import rank
    from plots.masking import Blank

    best = log_probs.topk(min(k, len(log_probs))).indices.tolist()
    shown = best + [number for number in marked if number not in best]
    notes = {
        place: _("rank {rank:,}").format(rank=rank(log_probs, number))
        for place, number in enumerate(shown)
        if number not in best
    }
    return Blank(
        title,
        [visible(tokenizer.vocab[number]) for number in shown],
        log_probs[shown].exp().tolist(),
        notes,
        roles={shown.index(number): role for number, role in marked.items()},
    )


def show_legend(*roles: str) -> None:
    from plots.masking import ROLE_COLOURS, ROLE_SYMBOLS

    words = {"true": _("the token that stood here"), "shown": _("the random token shown in its place")}
    legend([(ROLE_COLOURS[role], ROLE_SYMBOLS[role], words[role]) for role in roles])


def show_bars(panels: list, key: str, finding: str) -> None:
    """The panels as bars below their finding, in words, and as a table."""
    from plots.masking import expected_tokens, percent

    rows = [
        {_("blank"): one.title, _("token"): token, _("probability"): percent(prob), "": one.notes.get(i, "")}
        for one in panels
        for i, (token, prob) in enumerate(zip(one.tokens, one.probs, strict=True))
    ]
    words = [
        _("{title}: {told}.").format(
            title=one.title,
            told=_(", ").join(f"{token} {percent(p)}" for token, p in zip(one.tokens, one.probs, strict=True)),
        )
        for one in panels
    ]
    with st.container(key=f"{'wide' if len(panels) > 1 else 'narrow'}-{key}"):
        figure(
            partial(expected_tokens, panels, title=finding, axis=_("probability")),
            finding + _(". ") + " ".join(words),
            key,
            data=rows,
        )
