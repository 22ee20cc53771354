"""Through one vector: an encoder–decoder of two LSTMs copies a sentence, beside a Transformer with attention."""

from __future__ import annotations

import random

import pandas as pd
import streamlit as st

from sections.attention.rnn_reader import copiers, giving_way, say_unknown
from sections.attention.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _

TRIED = 50  # random sentences of each length


def names() -> dict[str, str]:
    return {"attention": _("Transformer, which looks back"), "lstm": _("LSTM → one state → LSTM")}


@st.cache_data(show_spinner=False)
def by_length() -> tuple[list[int], dict[str, list[float]]]:
    """Lengths, and for each network the share of words copied correctly."""
    longest = min(trained.longest for trained in copiers().values())
    lengths = list(range(1, longest + 1))
    accuracy = {}
    for name, trained in copiers().items():
        rng = random.Random(0)
        words = trained.words.entries[4:]  # after the special tokens
        sources = [rng.choices(words, k=length) for length in lengths for _try in range(TRIED)]
        shares = list(map(right, sources, trained.say(sources)))
        accuracy[name] = [sum(shares[n * TRIED : (n + 1) * TRIED]) / TRIED for n in range(longest)]
    return lengths, accuracy


def right(source: list[str], copy: list[str]) -> float:
    """The share of the source's words that appear at the same position in `said`."""
    return sum(a == b for a, b in zip(source, copy, strict=False)) / max(1, len(source))


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.toy.recurrent import RecurrentPair
    from minibert.toy.seq2seq import split_words
    from plots.attention_experiments import curves
    from plots.theme import titled

    trained = copiers()
    words = split_words(inputs.text)
    words = split_words(giving_way(lesson, inputs.text, words != trained["lstm"].words.known(words)))
    words = words[: min(one.longest for one in trained.values())]
    with st.spinner(_("Measuring …")):
        lengths, shares = by_length()
    titles = {names()[name]: values for name, values in shares.items()}
    summary = _(
        "{short} words through one state: {first:.0%} right; {long} words: {last:.0%}. Looking back: {back:.0%}."
    )
    summary = summary.format(
        short=lengths[2],
        first=shares["lstm"][2],
        long=lengths[-1],
        last=shares["lstm"][-1],
        back=shares["attention"][-1],
    )
    again(trained, words)
    figure(
        titled(
            curves(
                lengths,
                titles,
                xaxis=_("words of a sentence"),
                yaxis=_("words right"),
                percent=True,
                here=len(words) or None,
                height=340,
            ),
            summary,
        ),
        summary,
        "attention-rnn-bottleneck",
        data=lambda: pd.DataFrame(titles, index=pd.Index(lengths, name=_("words of a sentence"))),
    )
    lesson.show("Through one vector", title=False)
    show_source(RecurrentPair.encode, "return tap")


def again(trained: dict, words: list[str]) -> None:
    """The class's sentence as each network copies it."""
    if not words:
        return
    known = trained["lstm"].words.known(words)
    say_unknown([word for word, read in zip(words, known, strict=True) if word != read])
    for name, model in trained.items():
        copy = model.say([known])[0]
        marked = " ".join(
            literal(word) if n < len(known) and word == known[n] else f"**~~{literal(word)}~~**"
            for n, word in enumerate(copy)
        )
        score = _("{right} of {n} right").format(
            right=sum(a == b for a, b in zip(known, copy, strict=False)), n=len(known)
        )
        st.markdown(_("{name} ({score}): {marked}").format(name=names()[name], score=score, marked=marked))
