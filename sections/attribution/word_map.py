"""The central picture: every word's value by five methods."""

import math
from collections import Counter
from functools import partial

import streamlit as st

from sections.attribution.subject import Inputs, column_names, method_names
from sections.attribution.values import values_of
from ui.classifiers import show_accuracy
from ui.figures import figure
from ui.page import picture
from ui.predict import predict
from ui.text import literal
from ui.translations import _

MOST_GUESSES = 5  # options of the prediction question


def show(inputs: Inputs) -> None:
    from plots.attribution import word_grid

    with picture():
        st.markdown(inputs.answer)
        values, words, names = values_of(inputs), inputs.words, method_names()
        strongest = {name: words[int(abs(value).argmax())] for name, value in values.items()}
        revealed = _guessed(inputs, values, strongest)
        if revealed:
            alt = _("The value of every word by five methods. Strongest word: {words}.").format(
                words=_("; ").join(f"{names[name]}{_(': ')}{word}" for name, word in strongest.items())
            )
            title = finding(strongest)
        else:
            alt = title = _("Five methods, a value for every word: which is largest?")
        shown = values if revealed else {name: value * math.nan for name, value in values.items()}
        figure(
            partial(word_grid, words, shown, column_names(), title),
            alt,
            "grid",
            data=lambda: [
                {_("word"): word, **{names[name]: float(value[i]) for name, value in shown.items()}}
                for i, word in enumerate(words)
            ],
            wide=True,
        )
    if inputs.run is not None:
        show_accuracy(inputs.run)


def _guessed(inputs: Inputs, values: dict, strongest: dict[str, str]) -> bool:
    """Ask for the word that at least three of the five methods rank first; True if the map may be shown."""
    summed = sum(abs(value) / abs(value).max().clip(min=1e-12) for value in values.values())
    largest = [inputs.words[i] for i in summed.argsort()[::-1]]
    ((word, most),) = Counter(strongest.values()).most_common(1)
    candidates = list(dict.fromkeys([*strongest.values(), *largest]))[:MOST_GUESSES]
    options = [one for one in dict.fromkeys(inputs.words) if one in candidates]
    if len(options) < 2:
        return True
    right = options.index(word) if 2 * most > len(strongest) else len(options)
    question = _("Which word counts most in three or more of the five methods?")
    return predict("strongest", question, [*options, _("none: they do not agree")], right, about=f"{inputs.key}")


def finding(strongest: dict[str, str]) -> str:
    """Whether the methods agree on the strongest word."""
    counts = Counter(strongest.values())
    word, most = counts.most_common(1)[0]
    if most == 1:
        return _("Five methods, five strongest words")
    if most == len(strongest):
        return _("All five methods: “{word}” counts most").format(word=literal(word))
    others = _(", ").join(f"“{literal(other)}”" for other in counts if other != word)
    return _("“{word}” counts most in {n} of 5 methods, else {others}").format(
        word=literal(word), n=most, others=others
    )
