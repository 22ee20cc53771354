"""Why more than half are random: the share of random pairs by sentences per document."""

from functools import partial

import streamlit as st

from sections.next_sentence import documents
from sections.next_sentence.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.model_cache import load
from ui.translations import _, ngettext

SENTENCES = 10  # most sentences per document


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.text.documents import DataError

    lesson.show("Why more than half are random", title=False)
    text, max_length, short, seed = documents.read(lesson)
    try:
        _show_shares(text, inputs.model, max_length, short, seed)
    except DataError:
        st.info(_("Type or paste some text."), icon=":material/edit:")


@st.cache_data(show_spinner=False, max_entries=64)
def random_shares_of(text: str, model: str, max_length: int, short: int, seed: int) -> list[tuple[int, int]]:
    """(random, all) pairs if each document ended after 1, 2, 3 … sentences."""
    from minibert.inside.predictions.next_sentence import documents_in, random_share
    from minibert.text.store import TokenStore

    store = TokenStore.build(documents_in(text), load(model).tokenizer)
    longest = min(SENTENCES, int((store.documents[1:] - store.documents[:-1]).max()))
    return [random_share(store, n, max_length, seed, short / 100) for n in range(1, longest + 1)]


def _show_shares(text: str, model: str, max_length: int, short: int, seed: int) -> None:
    from plots.next_sentence import random_shares

    counts = random_shares_of(text, model, max_length, short, seed)
    counts = [(random, n) for random, n in counts if n]
    if not counts:
        st.info(_("It takes two documents to draw a random B."), icon=":material/looks_two:")
        return
    shares = [random / n for random, n in counts]
    sentences = list(range(1, len(shares) + 1))
    figure(
        partial(random_shares, sentences, shares, (_("sentences in a document"), _("random pairs"))),
        _("Share of random pairs with documents of {list}. Dotted: one half.").format(
            list="; ".join(
                ngettext("{n} sentence: {share:.0%}", "{n} sentences: {share:.0%}", n).format(n=n, share=share)
                for n, share in zip(sentences, shares, strict=True)
            )
        ),
        "shares",
        title=_("{first:.0%} random where a document has 1 sentence, {last:.0%} where it has {n}").format(
            first=shares[0], last=shares[-1], n=len(shares)
        ),
        data=lambda: [
            {_("sentences in a document"): n, _("random"): random, _("pairs"): total}
            for n, (random, total) in zip(sentences, counts, strict=True)
        ],
    )
