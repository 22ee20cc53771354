"""Form fields shared by several tasks."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from ui.highlights import placed
from ui.inputs import sentence_input
from ui.translations import _

MINE = "mine"  # key of the form for an input of the reader's own
LONG = 20_000  # characters of a passage
SHORT = 2_000


def text_field(
    key: str, label: str, text: str, *, multiline: bool = True, most: int = SHORT, travels: bool = False
) -> str:
    """travels: see `sentence_input`."""
    return sentence_input(
        key, [], label=label, default=text, multiline=multiline, max_chars=most, placeholder=" ", travels=travels
    )


def lines_field(key: str, label: str, texts: Sequence[str], *, most: int = LONG) -> list[str]:
    """A field with one text per line, as high as its content → the non-blank lines."""
    start = "\n".join(" ".join(text.split()) for text in texts)
    given = sentence_input(
        key, [], label=label, default=start, multiline=True, max_chars=most, placeholder=" ", height="content"
    )
    return [line.strip() for line in given.splitlines() if line.strip()]


def hint(words: str) -> None:
    """Say what is missing before the model can predict."""
    st.caption(words)


def one_text(example: Any, key: str) -> str | None:
    """A form with the field `text` → the text; None, with a hint, if blank. Of the forms of a page, the reader's own
    sentence travels from and to MINE alone."""
    text = example.text if example.text is not None else placed({"words": example.words})[0]
    given = text_field(f"{key}-text", _("Your text"), text, multiline=False, travels=key == MINE)
    if not given.strip():
        hint(_("Write a text, and the model answers."))
        return None
    return given


def two_texts(example: Any, key: str) -> dict | None:
    """A form with the fields `text` and `pair`; None, with a hint, if one is blank."""
    left, right = st.columns(2, gap="small")
    with left:
        text = text_field(f"{key}-text", _("First text (A)"), example.text, multiline=False)
    with right:
        pair = text_field(f"{key}-pair", _("Second text (B)"), example.pair, multiline=False)
    if not (text.strip() and pair.strip()):
        hint(_("Write both texts, and the model answers."))
        return None
    return {"text": text, "pair": pair}
