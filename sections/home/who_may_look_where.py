"""A CNN, ELMo, GPT and BERT over a sentence: which words may contribute to a word's vector?"""

from functools import partial

import streamlit as st

from ui.figures import figure, legend
from ui.inputs import clicked, sentence_input
from ui.lesson import Lesson
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal
from ui.translations import _, ngettext

FIRST = 2  # default word: "bank", or 花, disambiguated by the words after it


def show(lesson: Lesson, inputs: None) -> None:
    lesson.show("Who may look where", title=False)
    _four(lesson)
    lesson.show("What the pictures say", title=False)
    lesson.show("Whose idea it was", level=3)


@st.fragment
def _four(lesson: Lesson) -> None:
    """All four over the user's sentence; a click on a position shows what reaches it in each."""
    from minibert.inside.heads.visibility import MODELS, reach
    from minibert.tokenizer import basic_tokens
    from plots.theme import BLUE, GREEN, GREY, ORANGE
    from plots.visibility import MAX_WORDS, visibility

    text = sentence_input("sentence", lesson.examples, label=_("A sentence"))
    words = basic_tokens(text)
    if not words:
        st.info(_("Type at least one word."), icon=":material/edit:")
        return
    if len(words) > MAX_WORDS:
        st.caption(_("The pictures show the first {n} of {total} words.").format(n=MAX_WORDS, total=len(words)))
        words = words[:MAX_WORDS]
    n = len(words)
    if follow_link("word") or "word" not in st.session_state:
        st.session_state.word = url_int("word", min(FIRST, n), 1, n) - 1
    st.session_state.word = min(st.session_state.word or 0, n - 1)
    position = st.segmented_control(
        _("Whose vector?"), range(n), format_func=lambda i: literal(words[i]), key="word", required=True
    )
    set_url("word", position + 1, default=min(FIRST, n))

    legend(
        [
            (BLUE, "●", _("computed from the left only")),
            (ORANGE, "◆", _("from the right only")),
            (GREEN, "■", _("from both sides")),
            (GREY, "○", _("hollow: does not reach the chosen word")),
        ]
    )
    for column, model in zip((*st.columns(2), *st.columns(2)), MODELS, strict=True):
        with column:
            visible = reach(model, position, n)
            st.markdown(f"### {model}")
            figure(
                partial(visibility, words, position, model),
                _in_words(model, words, position, visible),
                f"see-{model}",
                on_select=lambda key=f"see-{model}": clicked(key, "word"),
            )
            st.markdown(_summary(model, visible, n))
    show_source(reach)


def _summary(model: str, visible, n: int) -> str:
    """How many words the chosen position draws on, in one line."""
    from minibert.inside.heads.visibility import WIDTH

    amount = ngettext("Sees **{seen} of {n} word**", "Sees **{seen} of {n} words**", n).format(
        seen=len(visible.words), n=n
    )
    how = {
        "CNN": _("a window, wider by {n} words with each layer").format(n=WIDTH - 1),
        "ELMo": _("one half sees {left}, the other {right}; they are joined only on top").format(
            left=len(visible.left), right=len(visible.right)
        ),
        "GPT": _("itself and what stands to its left"),
        "BERT": _("both sides, together in every layer"),
    }[model]
    far = ngettext("the farthest is {n} step away", "the farthest is {n} steps away", visible.steps).format(
        n=visible.steps
    )
    return f"{amount}{_(': ')}{how}{_('; ')}{far}{_('.')}"


def _in_words(model: str, words: list[str], position: int, visible) -> str:
    """The figure's text alternative."""
    hidden = [words[j] for j in range(len(words)) if j not in visible.words]
    return _("{model}: the vector of “{word}” is computed from: {seen}. Out of sight: {hidden}.").format(
        model=model,
        word=words[position],
        seen=_(", ").join(words[j] for j in visible.words),
        hidden=_(", ").join(hidden) or _("nothing"),
    )
