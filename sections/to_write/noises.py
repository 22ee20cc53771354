"""BART's noises on the user's own text."""

import html
import random

import streamlit as st

from ui.figures import in_words
from ui.inputs import seed_input, sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.source import show_source
from ui.text import visible
from ui.translations import _

MOST = 60  # most tokens


def names() -> dict[str, str]:
    return {
        "masking": _("Masking: a [MASK] for a token"),
        "deletion": _("Deletion: nothing says where"),
        "infilling": _("Infilling: a [MASK] for a run of 0, 1, 2 … tokens"),
        "permutation": _("Sentences in another order"),
        "rotation": _("Rotation: begins anywhere, goes round"),
        "both": _("Infilling and permutation: what BART kept"),
    }


@st.fragment
def show(lesson: Lesson, inputs: None) -> None:
    from minibert.masking import noises
    from minibert.tokenizer import basic_tokens

    lesson.show("BART’s noises", title=False)
    text = sentence_input(
        "noisy", lesson.examples_called("noisy"), max_chars=600, label=_("A text of several sentences")
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        seed = seed_input(1)
    typed = basic_tokens(text, uncased=False)
    tokens = typed[:MOST]
    if not tokens:
        st.info(_("Type a sentence."), icon=":material/edit:")
        return
    say_left_out(len(typed) - MOST)
    drawn = {name: noise(tokens, random.Random(seed)) for name, noise in noises.NOISES.items()}
    st.html(f'<ol class="mb-noises">{"".join(row(names()[name], parts) for name, parts in drawn.items())}</ol>')
    spans = [len(part.places) for part in drawn["infilling"] if part.token == noises.MASK]
    listed = _("Infilling has drawn runs of {lengths} tokens for its [MASK]s.").format(
        lengths=_(", ").join(map(str, spans))
    )
    st.caption(listed)
    in_words(
        listed,
        "noises-words",
        [
            {_("noise"): names()[name], _("what the encoder reads"): " ".join(part.token for part in parts)}
            for name, parts in drawn.items()
        ],
    )
    lesson.show("Why two noises were kept")
    show_source(noises.infilled, "poisson", label=_("Infilling"))


def row(name: str, parts) -> str:
    """A noise's name and its text, as safe HTML; a [MASK] shows how many tokens it replaces."""
    cells = []
    for part in parts:
        word = html.escape(visible(part.token))
        if part.token == "[MASK]":
            cells.append(f'<span class="hole"><b>{word}</b><small>{len(part.places)}</small></span>')
        else:
            cells.append(f"<span><bdi>{word}</bdi></span>")
    return f"<li><strong>{html.escape(name)}</strong><p>{' '.join(cells)}</p></li>"
