"""How this page draws texts and tokens."""

import streamlit as st

from minibert.tokenizer import Explanation
from ui.text import kind_of, visible
from ui.translations import ngettext


def shown(text: str) -> list[str]:
    return [visible(c, spaces=False) for c in text]


def kind(token: str) -> str:
    return {"plain": "", "piece": "piece", "unknown": "unk"}.get(kind_of(token), "special")


def more_words(e: Explanation) -> str:
    rest = e.word_count - len(e.words)
    return ngettext("… and {n:,} more word", "… and {n:,} more words", rest).format(n=rest) if rest > 0 else ""


def in_order(e: Explanation) -> list:
    """Words, and the special tokens found in the text, in text order."""
    return sorted(
        [*e.words, *e.specials], key=lambda one: one.offsets[0] if hasattr(one, "token") else one.split.offsets[0]
    )


def caption(text: str) -> None:
    st.markdown(f"**{text}**")
