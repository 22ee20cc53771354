"""The vector of each distance, and what distances add to a head's scores, for each pair of words."""

from functools import partial

import streamlit as st

from sections.nezha.subject import Inputs, heard
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import visible
from ui.translations import _

BESIDE = 20  # most tokens for figures side by side


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.attention import attention_matrix, literal
    from plots.nezha import distance_strips

    lesson.show("What a distance adds", title=False)
    if not inputs.tokens:
        return
    one, here, words = heard(inputs), inputs.word, [visible(token) for token in inputs.tokens]
    distance, added = one.distance[here].tolist(), one.by_distance[here].tolist()
    # Side by side while there is room for the token names.
    left, right = st.columns(2, gap="medium") if len(words) <= BESIDE else (st.container(), st.container())
    with left:
        from_word = _("distance from “{word}”").format(word=literal(words[here]))
        axes = (_("the vector r"), _("adds to the score"), from_word)
        listed = _("; ").join(
            f"{word} {d:+d}: {value:+.2f}" for word, d, value in zip(words, distance, added, strict=True)
        )
        figure(
            partial(distance_strips, words, distance, one.vectors[here].numpy(), added, here, axes),
            _("From “{word}”: the vector of each distance, and what q·r/√D adds to the score. {told}.").format(
                word=words[here], told=listed
            ),
            "strips",
            wide=True,
        )
    with right:
        alt = _("What distances alone add to the scores, for each pair of words. Layer {layer}, head {head}.").format(
            layer=inputs.layer + 1, head=inputs.head + 1
        )
        figure(
            partial(attention_matrix, words, one.by_distance.numpy(), kind="scores", axes=_("from ↓ · to →")),
            alt,
            "bias",
            wide=True,
        )
