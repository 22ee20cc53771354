"""The texts to learn a vocabulary from."""

import streamlit as st

from minibert.text.vocab_growth import LearnedVocabulary, watch_learning
from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, course_reviews
from ui.state import url_choice, url_text
from ui.translations import _

PARTS, OWN = "parts", "own"
MOST_CORPUS = 100_000  # most characters of the corpus
MOST_MERGES = 300  # most merges shown
_TYPED = "_corpus-typed"  # session_state key: the user's own text, kept while another part is open


def corpora() -> dict[str, str]:
    """Name in links → title of a corpus to learn a vocabulary from."""
    return {
        PARTS: _("Words and their parts"),
        "reviews": _("802 reviews"),
        "chinese": _("Chinese"),
        OWN: _("your own text"),
    }


@st.cache_data(show_spinner=False)
def bundled(name: str) -> str:
    if name == "reviews":
        return "\n".join(course_reviews("train", "dev", "test"))
    file = {PARTS: "word-parts.txt", "chinese": "chinese.txt"}[name]
    return (LESSONS / "tokenization" / file).read_text(encoding="utf-8")


def choose_corpus() -> str:
    name = choice("corpus", _("Text to learn from"), corpora(), wrap=True)
    if name == OWN:
        if "own" not in st.session_state and _TYPED in st.session_state:
            st.session_state["own"] = st.session_state[_TYPED]
        text = st.session_state[_TYPED] = sentence_input(
            "own",
            [],
            label=_("Paste a text"),
            multiline=True,
            max_chars=MOST_CORPUS,
            default="",
            placeholder=_("A page or more"),
        )
        return text
    text = bundled(name)
    with st.expander(_("Read it ({n:,} characters)").format(n=len(text)), icon=":material/menu_book:"):
        st.text(text[:20_000])
    return text


def chosen_corpus() -> str:
    """The text of the chosen corpus, without drawing the widget."""
    name = st.session_state.get("corpus") or url_choice("corpus", list(corpora()), PARTS)
    if name == OWN:
        return st.session_state.get(_TYPED, url_text("own"))[:MOST_CORPUS]
    return bundled(name)


@st.cache_resource(show_spinner=False, max_entries=32)
def learning(text: str, lowercase: bool, scoring: str) -> LearnedVocabulary:
    """Every merge; shared by all sessions, never changed."""
    return watch_learning(text, lowercase, scoring, MOST_MERGES)
