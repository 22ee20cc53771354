"""Attention once by hand: two numbers a vector, so that queries and keys are directions in a plane."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st

from sections.attention.subject import Inputs, Needs
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _

Vector = tuple[float, float]
KEYS: dict[str, Vector] = {"dog": (2.0, 0.0), "cat": (1.0, 2.0), "ran": (-2.0, 1.0)}
VALUES: dict[str, Vector] = {"dog": (4.0, 0.0), "cat": (0.0, 4.0), "ran": (-4.0, -4.0)}
LENGTH = 2.0  # of the query


def needs() -> Needs:
    return Needs.NOTHING


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.attention import number
    from plots.attention_experiments import directions

    lesson.show("In small numbers", title=False)
    left, right = st.columns([5, 6], gap="medium")
    with right:
        angle = st.slider(_("Direction of the query"), 0, 345, 30, 15, key="turn", format="%d°", bind="query-params")
        query = (LENGTH * math.cos(math.radians(angle)), LENGTH * math.sin(math.radians(angle)))
        scores = {word: dot(query, key) for word, key in KEYS.items()}
        shares = softmax({word: score / math.sqrt(2) for word, score in scores.items()})
        mixed = tuple(sum(share * VALUES[word][d] for word, share in shares.items()) for d in (0, 1))
        st.table(
            [
                {
                    _("token"): word,
                    _("key"): written(KEYS[word]),
                    "q · k": number(scores[word], 2),
                    "÷ √2": number(scores[word] / math.sqrt(2), 2),
                    "softmax": f"{share:.0%}",
                    _("value"): written(VALUES[word]),
                }
                for word, share in shares.items()
            ],
            border="horizontal",
        )
        terms = " + ".join(f"{share:.2f} · {written(VALUES[word])}" for word, share in shares.items())
        st.markdown(f"{terms} = **{written(mixed, 2)}**")
    with left:
        most = max(shares, key=shares.__getitem__)
        title = _("“{word}” gets most: {share:.0%}").format(word=most, share=shares[most])
        figure(
            partial(directions, KEYS, query, shares, _("query of “it”")),
            _("A query {query} and three keys from one origin. Shares: {shares}.").format(
                query=written(query, 2), shares=_(", ").join(f"{word} {share:.0%}" for word, share in shares.items())
            ),
            "attention-directions",
            title=title,
        )


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1]


def softmax(scores: dict[str, float]) -> dict[str, float]:
    total = sum(map(math.exp, scores.values()))
    return {name: math.exp(score) / total for name, score in scores.items()}


def written(vector: tuple[float, ...], digits: int = 0) -> str:
    from plots.attention import number

    return "(" + ",\u00a0".join(number(x, digits) for x in vector) + ")"
