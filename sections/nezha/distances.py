"""The central picture: from one word, each word's position, its distance, and what that adds to a head's score."""

import html

import streamlit as st

from sections.nezha.subject import MOST, Inputs, heard
from ui.limits import say_left_out
from ui.page import picture
from ui.pairs import names_html, networks, warn_unknown
from ui.text import visible
from ui.translations import _


def show(inputs: Inputs) -> None:
    with picture():
        if not inputs.tokens:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        st.html(f'<p class="mb-finding">{html.escape(finding(inputs))}</p>{columns_html(inputs)}')
        warn_unknown(inputs.tokens)
        say_left_out(len(networks(inputs.pair)[2].encode(inputs.text)) - 2 - MOST)


def finding(inputs: Inputs) -> str:
    return _("{n} words in front: every position moves by {n}, no distance moves.").format(n=len(inputs.front))


def columns_html(inputs: Inputs) -> str:
    """The rows’ names, and one column per token: its position without and with words in front, its distance, clipped,
    and what that adds to the score; safe HTML."""
    names = (
        _("the word"),
        _("BERT: its position"),
        _("NEZHA: its distance"),
        _("what the distance adds to the score"),
    )
    columns, added = [names_html(names)], heard(inputs).by_distance[inputs.word].tolist()
    most = max(map(abs, added)) or 1.0
    for place, (token, value) in enumerate(zip(inputs.tokens, added, strict=True)):
        distance = place - inputs.word
        clip = max(-inputs.furthest, min(inputs.furthest, distance))
        was, now = place + 1, place + 1 + len(inputs.front)  # positions count from 0, [CLS]
        moved = f"{was} → <b>{now}</b>" if inputs.front else f"<b>{was}</b>"
        clipped = f"{signed(distance)} → {signed(clip)}" if clip != distance else signed(distance)
        css = ' class="here"' if place == inputs.word else ""
        columns.append(
            f'<li{css}><span class="token"><bdi>{html.escape(visible(token))}</bdi></span>'
            f'<span class="place">{moved}</span><span class="far"><b>{clipped}</b></span>'
            f'<span class="{"less" if value < 0 else "more"}" style="--share:{abs(value) / most:.3f}">'
            f"{number(value)}</span></li>"
        )
    label = html.escape(_("position and distance of each word, and what the distance adds to the score"))
    return f'<ol class="mb-nezha" aria-label="{label}">{"".join(columns)}</ol>'


def number(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def signed(value: int) -> str:
    return f"{value:+d}".replace("-", "−") if value else "0"
