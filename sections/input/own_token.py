"""A token of the user's own: it gets a new id, but has no trained vector."""

import re

import streamlit as st

from sections.input.subject import COLUMNS, MAX_CHARS, Inputs
from ui.lesson import Lesson
from ui.model_cache import language_read, load
from ui.text import kind_of, show_tokens
from ui.translations import _

SPECIAL = re.compile(r"\[[^\[\]\s]{1,30}\]")
TEXTS = {
    "en": "[CAT=CULTURE] A new museum opened in the old harbour.",
    "zh": "[CAT=CULTURE] 老港口新开了一座博物馆。",
}


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The text before and after the tokenizer knows the new token."""
    lesson.show("A token of your own")
    from minibert.tokenizer import Tokenizer

    trained = load(inputs.model).tokenizer
    left, right = st.columns([1, 2], gap="large")
    with left:
        token = st.text_input(_("New token"), "[CAT=CULTURE]", key="special")
    with right:
        spoken = "zh" if language_read(inputs.model) == "zh" else "en"
        text = st.text_input(_("Text"), TEXTS[spoken], key=f"special-text-{spoken}")
    text = text[:MAX_CHARS]
    if not SPECIAL.fullmatch(token):
        st.info(_("Write it in square brackets, without spaces, at most 30 characters: `[CAT=CULTURE]`."))
        return
    extended = Tokenizer(trained.vocab, lowercase=trained.lowercase, special_tokens=[token])
    for title, tokenizer in ((_("Before"), trained), (_("After"), extended)):
        encoding = tokenizer.encode(text)
        st.markdown(f"**{title}**")
        kinds = ["mask" if one == token else kind_of(one) for one in encoding.tokens]
        show_tokens(encoding.tokens, under=encoding.ids, kinds=kinds, limit=COLUMNS)
    if token in trained.ids:
        st.markdown(_("This token was in the vocabulary already, with id {id}.").format(id=trained.ids[token]))
        return
    st.markdown(
        _("Id **{id:,}**: one beyond the last of the {size:,} rows of this model's embedding matrix.").format(
            id=extended.ids[token], size=trained.vocab_size
        )
    )
