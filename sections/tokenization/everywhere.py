"""The same text in every vocabulary: a token is not a word."""

import streamlit as st

from minibert.tokenizer import UNK
from sections.tokenization.subject import Inputs
from sections.tokenization.vocabularies import explained, read, tokenizer_of, vocabularies
from ui.lesson import Lesson
from ui.text import literal, tokens_html
from ui.translations import _, ngettext

MOST_TOKENS = 40  # most tokens drawn per vocabulary


def show(lesson: Lesson, inputs: Inputs) -> None:
    for vocabulary in vocabularies().values():
        try:
            pieces, lowercase = read(vocabulary)
        except (ValueError, OSError):
            continue  # the error appears where the vocabulary is chosen
        digest, tokenizer = tokenizer_of(pieces, lowercase)
        encoding = explained(digest, inputs.text, tokenizer).encoding
        unknown = sum(t == UNK and not s for t, s in zip(encoding.tokens, encoding.special, strict=True))
        tokens = ngettext("{n:,} token", "{n:,} tokens", len(encoding)).format(n=len(encoding))
        here = " " + _("(chosen)") if vocabulary.name == inputs.vocabulary.name else ""
        phrase = f"**{literal(vocabulary.title)}**{here} · {tokens}" + (f" · {unknown:,} × [UNK]" if unknown else "")
        with st.container(gap="xxsmall"):
            st.markdown(phrase)
            st.html(tokens_html(encoding.tokens, under=encoding.ids, limit=MOST_TOKENS, label=vocabulary.title))
    lesson.show("A token is not a word")
    lesson.show("About these vocabularies")
