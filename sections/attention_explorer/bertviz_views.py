"""BertViz's head, model and neuron views of the chosen layer and head, on the chosen model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

from sections.attention_explorer import bertviz
from sections.attention_explorer.subject import (
    MAX_TOKENS,
    Inputs,
    ModelText,
    Seen,
    choose_words,
    inside,
    pick_head,
    read_pair,
    seen,
)
from ui.inspected_model import HeadPlace
from ui.lesson import Lesson
from ui.projector import TYPE, projecting
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput

LINES = {"head": 50_000, "model": 60_000}  # a browser draws each line of BertViz as an object
NEURONS = 400_000  # most numbers sent to the neuron view
TALLEST = 700  # most pixels of a frame's height, unless projecting
SECTIONS = {"head": "The head view", "model": "The model view", "neuron": "The neuron view"}


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    views = {"head": _("Head view"), "model": _("Model view"), "neuron": _("Neuron view")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = pick_head(inputs)
        chosen = [
            name
            for name, label in views.items()
            if st.toggle(label, value=name == "head", key=f"bertviz_{name}", bind="query-params")
        ]
        alone = st.toggle(_("This head alone"), key="bertviz_alone", bind="query-params")
        words = any(name != "neuron" for name in chosen) and choose_words(inputs)  # words have no queries and keys
    for name in chosen:
        narrow = name == "head"  # narrow enough for a second view or its prose beside it
        boxes = st.columns(2, gap="medium") if narrow else [st.container() for _side in inputs.sides]
        for box, side, key in zip(boxes, inputs.sides, "ab", strict=False):
            with box:
                one_view(name, views[name], side, side.subject.head(*at), alone, words, f"bertviz-{name}-{key}")
        with boxes[1] if narrow and len(inputs.sides) == 1 else st.container():
            lesson.show(SECTIONS[name], title=False)
    lesson.show("BertViz", title=False)


def one_view(name: str, label: str, side: ModelText, at: HeadPlace, alone: bool, words: bool, key: str) -> None:
    subject = side.subject
    reading, whole = shortened(side, name)
    tensors, tokens = inside(subject, reading), list(reading.tokens)
    if name == "neuron" and "relative_scores" in tensors:
        st.info(
            _(
                "BertViz draws a score as query times key. {model} adds a vector for the distance to each key, or a "
                "number to each product, so the picture would not be of its scores: see them under *Look*, number by "
                "number."
            ).format(model=literal(subject.title)),
            icon=":material/help:",
        )
        return
    st.markdown(f"**{title(name, label, at, alone)}**")
    if whole > len(tokens):
        st.caption(
            _("The first {n} of {whole} tokens: BertViz makes every line an object.").format(n=len(tokens), whole=whole)
        )
    of = seen(ModelText(subject, reading, side.text, side.second), words and name != "neuron")
    html, height = document(name, of, reading, tensors, at, alone)
    alt = _("{view} of BertViz: {model}, {n} tokens.").format(view=label, model=subject.title, n=len(tokens))
    scale = TYPE if projecting() else 1
    bertviz.show(html, key, alt, round(scale * min(height, TALLEST)))


def title(name: str, label: str, at: HeadPlace, alone: bool) -> str:
    """The view's name, with the layer and head it shows."""
    place = {"layer": at[0] + 1, "head": at[1] + 1, "view": label}
    if name == "head" and not alone:
        return _("{view}: all heads of layer {layer}").format(**place)
    if name == "model":
        return _("{view}: every head; open is layer {layer}, head {head}").format(**place)
    return _("{view}: layer {layer}, head {head}").format(**place)


def document(name: str, of: Seen, reading: ModelInput, tensors: dict, at: HeadPlace, alone: bool) -> tuple[str, int]:
    """A view as HTML, and its height in pixels."""
    (layers, heads), size, tokens = of.probs.shape[:2], len(of.names), list(of.names)
    segments = [reading.segments[word[0]] for word in of.pieces] if of.pieces else list(reading.segments)
    second = segments.index(1) if 1 in segments else None
    look = {"dark": st.context.theme.type == "dark", "scale": TYPE if projecting() else 1}
    layer, head = at
    if name == "head":
        only = head if alone else None
        return bertviz.head_view(of.probs, tokens, second, layer=layer, head=only, **look), 60 + 23 * size
    if name == "model":
        height = 60 + max(round(layers * (84 * size / max(8, heads) + 10)), 18 * size + 60)
        return bertviz.model_view(of.probs, tokens, second, opened=at, **look), height
    parts = (tensors["probs"], tensors["query"], tensors["key"], tokens, second)
    both_ways = bool(tensors["allowed"].all())
    return bertviz.neuron_view(*parts, layer=layer, head=head, both_ways=both_ways, **look), 130 + 26 * size


def shortened(side: ModelText, view: str) -> tuple[ModelInput, int]:
    """The text, cut to what a BertViz view can draw, and the number of tokens before the cut."""
    layers, heads = side.subject.shape
    size = side.subject.model.config.head_size
    lines = {"head": heads, "model": layers * heads}
    limit = MAX_TOKENS
    if view == "neuron":
        while layers * heads * (limit**2 + 2 * size * limit) > NEURONS:
            limit -= 1
    else:
        limit = math.isqrt(LINES[view] // lines[view])
    return read_pair(side.subject, side.text, side.second, max(4, limit)), len(side.reading.ids)
