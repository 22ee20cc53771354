"""The central picture: every word's value by five methods."""

from collections import Counter
from functools import partial

import streamlit as st

from sections.attribution import subject
from sections.attribution.subject import Subject, column_names, method_names
from ui.classifiers import classifier_named, show_accuracy
from ui.figures import figure
from ui.page import picture
from ui.text import literal
from ui.translations import _


def show(seen: Subject) -> None:
    from plots.attribution import word_grid

    with picture():
        st.markdown(seen.answer)
        values, words, names = subject.values_of(seen), seen.words, method_names()
        strongest = {name: words[int(abs(value).argmax())] for name, value in values.items()}
        with st.container(key="wide-grid"):
            figure(
                partial(word_grid, words, values, column_names(), finding(strongest)),
                _("The value of every word by five methods. Strongest word: {words}.").format(
                    words="; ".join(f"{names[name]}: {word}" for name, word in strongest.items())
                ),
                "grid",
                data=lambda: [
                    {_("word"): word, **{names[name]: float(value[i]) for name, value in values.items()}}
                    for i, word in enumerate(words)
                ],
            )
    if seen.run is not None:
        show_accuracy(seen.run)
    elif seen.missing:
        classifier_named(seen.missing)


def finding(strongest: dict[str, str]) -> str:
    """Whether the methods agree on the strongest word."""
    counts = Counter(strongest.values())
    word, most = counts.most_common(1)[0]
    if most == 1:
        return _("Five methods, five strongest words")
    if most == len(strongest):
        return _("All five methods: “{word}” counts most").format(word=literal(word))
    others = ", ".join(f"“{literal(other)}”" for other in counts if other != word)
    return _("“{word}” counts most in {n} of 5 methods, else {others}").format(
        word=literal(word), n=most, others=others
    )
