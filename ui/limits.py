"""What a model cannot read, said where a text has it: places that it never learned, and words it does not know."""

import streamlit as st

from ui.models import load, outline_of, title_of, version_of
from ui.text import literal
from ui.translations import _

MOSTLY = 0.5
FEW = 32  # tokens that every model has places for: of these, nobody need wait for its weights


def warn_unread(encoding, model: str) -> None:
    """Say so if a text goes beyond the places that the model called `model` has learned, or if most of it is [UNK].

    encoding: the text as the model reads it (minibert.tokenizer.Encoding); specials do not count.
    """
    tokens = [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]
    unknown = sum(token == "[UNK]" for token in tokens)
    if unknown > MOSTLY * len(tokens):
        st.warning(
            _("{unknown} of these {n} tokens are [UNK] to {model}: of what you wrote it reads hardly anything.").format(
                unknown=unknown, n=len(tokens), model=literal(title_of(model))
            ),
            icon=":material/visibility_off:",
        )
    if len(encoding) <= FEW:
        return
    learned = trained_positions(model, version_of(model))
    if len(encoding) > learned:
        st.warning(
            _(
                "{model} was trained on texts of at most {learned} tokens. This one has {n}: to places beyond "
                "{learned} it has learned nothing, and its attention falls apart there."
            ).format(model=literal(title_of(model)), learned=learned, n=len(encoding)),
            icon=":material/straighten:",
        )


def warn_unread_text(model: str, text: str, pair: str | None = None, *, most: int | None = None) -> None:
    """`warn_unread` of a text or a pair as the model called `model` reads it. most: tokens that a page reads."""
    outline = outline_of(model)
    places = outline.config.max_position_embeddings
    warn_unread(outline.tokenizer.encode(text, pair, max_length=min(most or places, places)), model)


@st.cache_data(show_spinner=False, max_entries=64)
def trained_positions(model: str, version: int) -> int:
    """Of the model called `model` with these weights, as minibert.inside.reach tells it."""
    from minibert.inside.reach import trained_positions

    return trained_positions(load(model).model)
