"""What the whole page is about: the class's sentence, and the vocabulary that cuts it."""

import hashlib
from dataclasses import dataclass

import streamlit as st

from minibert.tokenizer import Explanation, Tokenizer
from sections.tokenization.vocabularies import (
    UPLOADED,
    Vocabulary,
    choose_case,
    explained,
    read_bytes,
    tokenizer_of,
    vocabularies,
    vocabulary_label,
)
from sections.tokenization.vocabularies import read as read_vocabulary
from ui.errors import translated
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.model_cache import language_read
from ui.model_registry import shipped_models
from ui.page import drawer
from ui.state import url_choice
from ui.text import literal
from ui.translations import _, first_language
from ui.uploads import uploader

MOST_TEXT = 5_000  # most characters of the text
CHOOSE = "_choose"  # session_state key: the vocabulary to choose next


@dataclass(frozen=True)
class Inputs:
    """A text, the vocabulary that tokenizes it, and all steps in between."""

    text: str
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    steps: Explanation

    @property
    def tokens(self) -> int:
        """Number of tokens, including [CLS] and [SEP]."""
        return len(self.steps.encoding)


def read(lesson: Lesson) -> Inputs | None:
    """The sentence, and in a drawer the vocabulary; None, after showing the error, if the vocabulary is unreadable."""
    if CHOOSE in st.session_state:
        st.session_state["vocab"] = st.session_state.pop(CHOOSE)
    known = vocabularies()
    if not known:
        st.error(
            _("There is no vocabulary here. Put a vocab.txt into a folder `vocabularies`."), icon=":material/error:"
        )
        return None
    now = st.session_state.get("vocab")
    first = _first(known)
    here = now if now in known else url_choice("vocab", list(known), first)
    with st.container(horizontal=True, vertical_alignment="bottom", key="subject"):
        left, examples_in = st.container(), drawer(_("Examples"), key="examples", icon=":material/format_quote:")
        right = drawer(vocabulary_label(known[here]), key="vocabulary-choice")
    with left:
        text = sentence_input("text", lesson.examples, max_chars=MOST_TEXT, travels=True, examples_in=examples_in)
    with right:
        titles = {name: vocabulary_label(vocabulary) for name, vocabulary in known.items()}
        vocabulary = known[choice("vocab", _("Vocabulary"), titles, wrap=True, default=first)]
        try:
            pieces, uncased = read_vocabulary(vocabulary)
            lowercase = choose_case(vocabulary.name, uncased)
            problem = None
        except (ValueError, OSError) as error:
            problem = error
        _upload()
    if problem is not None:
        st.error(literal(translated(problem)), icon=":material/error:")
        return None
    digest, tokenizer = tokenizer_of(pieces, lowercase)
    return Inputs(text, vocabulary, tokenizer, explained(digest, text, tokenizer))


def _first(known: dict[str, Vocabulary]) -> str:
    """The first vocabulary for the language that the page starts with; else the first of all."""
    models = (name for name in known if name in {info.name for info in shipped_models()})
    return next((name for name in models if language_read(name) == first_language()), next(iter(known)))


def _upload() -> None:
    file = uploader(_("Your own vocab.txt"), None, "upload", max_upload_size=10)
    if file is None:
        if st.session_state.pop("_uploaded-vocabulary", None) is not None:
            st.rerun()
        return
    data = file.getvalue()
    stamp = hashlib.sha256(data).hexdigest()
    if st.session_state.get("_uploaded-stamp") == stamp and "_uploaded-vocabulary" in st.session_state:
        st.success(_("It is in the list above."), icon=":material/check_circle:")
        return
    try:
        pieces = read_bytes(data, file.name)
    except ValueError as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return
    st.session_state["_uploaded-stamp"] = stamp
    st.session_state["_uploaded-vocabulary"] = Vocabulary(UPLOADED, file.name, None, pieces)
    st.session_state[CHOOSE] = UPLOADED
    st.rerun()
