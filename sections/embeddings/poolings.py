"""A vector for a sentence: which layer and which pooling correlate best with human scores."""

from functools import partial

import numpy as np
import streamlit as st

from sections.embeddings.subject import SENTENCE_ENCODER, Inputs, layer_names, pooling_names
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.samples import similar_pairs
from ui.translations import _


@st.cache_data(show_spinner=False, max_entries=24)
def similarity(model: str, version: int, language: str, centre: bool) -> dict[str, list[float]]:
    """pooling → Spearman's correlation at each layer."""
    from minibert.inside.geometry.vectors import agreement, sentence_vectors

    pairs = similar_pairs(language)

    def compute() -> dict[str, np.ndarray]:
        loaded = load(model)
        first, second, scores = zip(*pairs, strict=True)
        left, right = (sentence_vectors(loaded.model, loaded.tokenizer, texts) for texts in (first, second))
        return {name: np.array(agreement(left[name], right[name], scores, centre)) for name in left}

    stored = first_view("embeddings", "poolings", model, [pairs, centre], compute)
    return {name: layers.tolist() for name, layers in stored.items()}


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """Correlation with human scores by layer, one line per pooling."""
    from minibert.inside.geometry.vectors import word_overlap
    from minibert.tokenizer import basic_tokens
    from minibert.training.statistics import rank_correlation
    from plots.over_layers import Line, Panel, over_layers

    centre = st.toggle(_("Subtract the layer’s mean vector first"), key="centre", bind="query-params")
    pairs = similar_pairs(inputs.language)
    with st.spinner(_("Computing {n} sentence vectors …").format(n=2 * len(pairs))):
        by_pooling = similarity(inputs.model, version_of(inputs.model), inputs.language, centre)
    overlap = word_overlap([(basic_tokens(a, True), basic_tokens(b, True)) for a, b, _score in pairs])
    words = rank_correlation(overlap, [score for *_texts, score in pairs])
    looks = dict(zip(by_pooling, ("second", "first", "third"), strict=True))
    lines = [Line(pooling_names()[name], values, looks[name]) for name, values in by_pooling.items()]
    names = layer_names(len(lines[0].values))
    best = max(by_pooling, key=lambda name: max(by_pooling[name]))
    where = max(range(len(names)), key=by_pooling[best].__getitem__)
    summary = _("Best here: {pooling} at layer {layer}, {value:.2f}; counting common words alone: {words:.2f}").format(
        pooling=pooling_names()[best], layer=names[where], value=by_pooling[best][where], words=words
    )
    title = _("Spearman’s correlation with people’s scores, {n} pairs").format(n=len(pairs))
    panel = Panel(title, lines, {_("common words"): words})
    figure(
        partial(over_layers, [panel], names, _("layer"), columns=1, title=summary),
        _("Agreement of cosines with scores of {n} pairs, by layer and pooling.").format(n=len(overlap))
        + f" {summary}{_('.')}",
        "poolings",
        data=lambda: {_("layer"): names, **{pooling_names()[name]: values for name, values in by_pooling.items()}},
    )
    if inputs.model == SENTENCE_ENCODER:  # first, for what holds of a plain BERT contradicts the picture
        lesson.show("The sentence encoder among them", level=3)
    lesson.show("A vector for a sentence", level=3)
