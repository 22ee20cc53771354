"""Warnings about texts a model cannot handle: positions it was not trained on, or mostly unknown words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ui.model_cache import load, outline_of, version_of
from ui.model_registry import title_of
from ui.model_widgets import offer_reader
from ui.text import literal
from ui.translations import _, ngettext

if TYPE_CHECKING:
    from minibert.tokenizer import Encoding

MOSTLY = 0.5
FEW = 32  # tokens: every model has learned these positions, so that shorter texts need no weights loaded


def count_unknown(encoding: Encoding) -> tuple[int, int]:
    """(how many are [UNK], how many there are) of the tokens of a text, without special tokens."""
    tokens = [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]
    return tokens.count("[UNK]"), len(tokens)


def say_unknown(unknown: int, n: int, reader: str) -> bool:
    """Warn if more than half of a text's `n` tokens are [UNK], say so of fewer in a line → whether it is more than
    half. reader: title of the model that reads the text."""
    mostly = unknown > MOSTLY * n
    if mostly:
        words = _("{unknown} of these {n} tokens are [UNK] to {model}: it reads hardly anything of your text.")
        st.warning(words.format(unknown=unknown, n=n, model=literal(reader)), icon=":material/visibility_off:")
    elif unknown:
        few = ngettext(
            "{unknown} of these {n} tokens is [UNK]: {model} does not know it.",
            "{unknown} of these {n} tokens are [UNK]: {model} does not know them.",
            unknown,
        )
        st.caption(few.format(unknown=unknown, n=n, model=literal(reader)))
    return mostly


def warn_beyond(model: str, n: int) -> None:
    """Warn if a text of `n` tokens exceeds the positions that `model` was trained on."""
    if n > FEW and n > (learned := trained_positions(model, version_of(model))):
        st.warning(
            _(
                "{model} was trained on texts of at most {learned} tokens. This one has {n}: positions beyond "
                "{learned} were never trained, so its output there means little."
            ).format(model=literal(title_of(model)), learned=learned, n=n),
            icon=":material/straighten:",
        )


def warn_unread(encoding: Encoding, model: str, text: str = "", name: str = "") -> None:
    """`say_unknown` and `warn_beyond` of a text.

    text: what was tokenized: if the page's select box has a model that reads its language, a button chooses that one ·
    name: of the model in that box, if another.
    """
    unknown, n = count_unknown(encoding)
    if unknown and say_unknown(unknown, n, title_of(model)):
        offer_reader(model, text, name)
    warn_beyond(model, len(encoding))


def warn_unread_text(
    model: str, text: str, pair: str | None = None, *, most: int | None = None, name: str = ""
) -> None:
    """`warn_unread` for a text or a pair. most: maximum number of tokens the page uses."""
    outline = outline_of(model)
    places = outline.config.max_position_embeddings
    encoding = outline.tokenizer.encode(text, pair, max_length=min(most or places, places))
    warn_unread(encoding, model, text + (pair or ""), name)


def say_left_out(n: int) -> None:
    """A line, if the last `n` tokens of a text are not used."""
    if n > 0:
        st.caption(_("The last {n} tokens are left out here.").format(n=n))


@st.cache_data(show_spinner=False, max_entries=64)
def trained_positions(model: str, version: int) -> int:
    """Cached minibert.inside.reach.trained_positions of the model with these weights."""
    from minibert.inside.reach import trained_positions

    return trained_positions(load(model).model)
