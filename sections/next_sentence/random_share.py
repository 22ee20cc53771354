"""Why more than half are random: the share of random pairs by sentences per document."""

from functools import partial

import streamlit as st

from ui.figures import figure
from ui.model_cache import load
from ui.translations import _, ngettext

SENTENCES = 10  # most sentences per document


@st.cache_data(show_spinner=False, max_entries=64)
def random_shares_of(text: str, model: str, max_length: int, short: int, seed: int) -> list[tuple[int, int]]:
    """(random, all) pairs if each document ended after 1, 2, 3 … sentences; none with a single document."""
    from minibert.inside.predictions.next_sentence import documents_in, random_share
    from minibert.text.store import TokenStore

    store = TokenStore.build(documents_in(text), load(model).tokenizer)
    if len(store) < 2:
        return []
    longest = min(SENTENCES, int((store.documents[1:] - store.documents[:-1]).max()))
    return [random_share(store, n, max_length, seed, short / 100) for n in range(1, longest + 1)]


def show(text: str, model: str, max_length: int, short: int, seed: int) -> None:
    """text: documents that hold at least a sentence · short: in percent."""
    from plots.next_sentence import random_shares

    counts = random_shares_of(text, model, max_length, short, seed)
    counts = [(random, n) for random, n in counts if n]
    if not counts:
        st.info(_("It takes two documents to draw a random B."), icon=":material/looks_two:")
        return
    shares = [random / n for random, n in counts]
    sentences = list(range(1, len(shares) + 1))
    title = _("{first:.0%} random where a document has 1 sentence, {last:.0%} where it has {n}")
    if len(shares) == 1:
        title = _("{first:.0%} random where a document has 1 sentence")
    figure(
        partial(random_shares, sentences, shares, (_("sentences in a document"), _("random pairs"))),
        _("Share of random pairs with documents of {list}. Dotted: one half.").format(
            list=_("; ").join(
                ngettext("{n} sentence: {share:.0%}", "{n} sentences: {share:.0%}", n).format(n=n, share=share)
                for n, share in zip(sentences, shares, strict=True)
            )
        ),
        "shares",
        title=title.format(first=shares[0], last=shares[-1], n=len(shares)),
        data=lambda: [
            {_("sentences in a document"): n, _("random"): random, _("pairs"): total}
            for n, (random, total) in zip(sentences, counts, strict=True)
        ],
    )
