"""The central picture: from one word, the distance to every other, its vector, and its part in a head's scores."""

import html
from functools import partial

import streamlit as st

from sections.nezha.subject import Inputs
from ui.figures import figure
from ui.page import picture
from ui.pairs import networks, warn_unknown
from ui.text import visible
from ui.translations import _

BESIDE = 20  # most tokens for figures side by side


def show(inputs: Inputs) -> None:
    from minibert.inside.relatives.distances import heard
    from plots.attention import attention_matrix, literal
    from plots.nezha import distance_strips

    with picture():
        if not inputs.tokens:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        row = inputs.row(inputs.front)
        own = slice(1 + len(inputs.front), len(row) - 1)  # the sentence in the row
        one = heard(networks(inputs.pair)[0], row, inputs.layer, inputs.head, inputs.furthest)
        here = inputs.word
        distance = one.distance[own, own][here].tolist()
        added = one.by_distance[own, own]
        st.markdown(f"**{finding(inputs)}**")
        st.html(columns_html(inputs))
        words = [visible(token) for token in inputs.tokens]
        # Side by side while there is room for the token names.
        left, right = st.columns(2, gap="medium") if len(words) <= BESIDE else (st.container(), st.container())
        from_word = _("distance from “{word}”").format(word=literal(words[here]))
        axes = (_("the vector r"), _("adds to the score"), from_word)
        with left:
            listed = "; ".join(
                f"{word} {d:+d}: {value:+.2f}" for word, d, value in zip(words, distance, added[here], strict=True)
            )
            figure(
                partial(
                    distance_strips,
                    words,
                    distance,
                    one.vectors[own, own][here].numpy(),
                    added[here].tolist(),
                    here,
                    axes,
                ),
                _("From “{word}”: the vector of each distance, and what q·r/√D adds to the score. {told}.").format(
                    word=words[here], told=listed
                ),
                "strips",
                wide=True,
            )
        with right:
            alt = _(
                "What distances alone add to the scores, for each pair of words. Layer {layer}, head {head}."
            ).format(layer=inputs.layer + 1, head=inputs.head + 1)
            figure(
                partial(attention_matrix, words, added.numpy(), kind="scores", axes=_("from ↓ · to →")),
                alt,
                "bias",
                wide=True,
            )
        warn_unknown(inputs.tokens)


def finding(inputs: Inputs) -> str:
    return _("{n} words in front: every position moves by {n}, no distance moves.").format(n=len(inputs.front))


def columns_html(inputs: Inputs) -> str:
    """One column per token: its position without and with words in front, its distance, clipped; safe HTML."""
    columns = []
    for place, token in enumerate(inputs.tokens):
        distance = place - inputs.word
        clip = max(-inputs.furthest, min(inputs.furthest, distance))
        was, now = place + 1, place + 1 + len(inputs.front)  # positions count from 0, [CLS]
        moved = f"{was} → <b>{now}</b>" if inputs.front else f"<b>{was}</b>"
        clipped = f"{signed(distance)} → {signed(clip)}" if clip != distance else signed(distance)
        css = ' class="here"' if place == inputs.word else ""
        columns.append(
            f'<li{css}><span class="token"><bdi>{html.escape(visible(token))}</bdi></span>'
            f'<span class="place">{moved}</span><span class="far"><b>{clipped}</b></span></li>'
        )
    names = {
        "↑": _("the word"),
        "●": _("BERT: its position, which has a vector"),
        "↔": _("NEZHA: its distance from the chosen word"),
    }
    rows = "".join(f"<li>{symbol} {html.escape(name)}</li>" for symbol, name in names.items())
    label = html.escape(_("position and distance of each word"))
    return (
        f'<ul class="mb-nezha-rows" aria-hidden="true">{rows}</ul>'
        f'<ol class="mb-nezha" aria-label="{label}">{"".join(columns)}</ol>'
    )


def signed(value: int) -> str:
    return f"{value:+d}".replace("-", "−") if value else "0"
