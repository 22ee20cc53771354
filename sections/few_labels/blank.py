"""The central picture: the user's text in the pattern, and the probability of each label's words at the blank."""

import html
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.few_labels.subject import Inputs, asker, label_names
from ui.errors import translated
from ui.figures import figure
from ui.model_cache import version_of
from ui.page import picture
from ui.text import literal, visible
from ui.translations import _

if TYPE_CHECKING:
    from minibert.few_labels.zero_shot import BlankPrediction


@st.fragment
def show(inputs: Inputs) -> None:
    with picture():
        if not inputs.text.strip():
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        try:
            with st.spinner(_("Filling in …")):
                prediction = look(inputs, version_of(inputs.model))
        except ValueError as error:
            st.info(literal(translated(error)), icon=":material/edit:")
            return
        show_filled(inputs.pattern.replace("{text}", inputs.text))
        draw(prediction, label_names(), "at-blank")


def show_filled(text: str) -> None:
    """The text in its pattern, the blank marked."""
    whole = [visible(part, spaces=False) for part in text.split("[MASK]")]
    blank = '<mark class="mb-mask">[MASK]</mark>'
    st.html('<p class="mb-finding" dir="auto" data-of="pattern">' + blank.join(map(html.escape, whole)) + "</p>")


def draw(prediction: "BlankPrediction", names: Mapping[str, str], key: str) -> None:
    """The labels' words at the blank, and the likeliest words of all. names: label → as shown."""
    from plots.few_labels import words_at_blank

    likeliest = max(prediction.probabilities, key=prediction.probabilities.__getitem__)
    bars = [(names[label], p, prediction.shares[label]) for label, p in prediction.probabilities.items()]
    title = _("{label}: {p:.0%}, before anything was learned").format(
        label=names[likeliest], p=prediction.probabilities[likeliest]
    )
    figure(
        partial(
            words_at_blank, bars, title, _("probability, the words of the labels alone compared"), names[likeliest]
        ),
        _("{title}. {words}.").format(
            title=title,
            words=_("; ").join(
                f"{name}{_(': ')}{_(', ').join(f'{word} {share:.2%}' for word, share in some)}"
                for name, _p, some in bars
            ),
        ),
        key,
        data=[
            {_("label"): name, _("word"): word, _("share of the whole vocabulary"): share}
            for name, _p, some in bars
            for word, share in some
        ],
    )
    others = _(", ").join(f"{literal(visible(word))} {p:.0%}" for word, p in prediction.likeliest[:5])
    cut = " " + _("{n} tokens of the text found no room.").format(n=prediction.cut) if prediction.cut else ""
    st.caption(_("Of the whole vocabulary it would write: {words}.").format(words=others) + cut)


@st.cache_data(show_spinner=False, max_entries=200)
def look(inputs: Inputs, version: int):
    """The predictions at the blank; computed once for all sessions."""
    from minibert.few_labels.zero_shot import predict_blank

    return predict_blank(asker(inputs), inputs.text)
