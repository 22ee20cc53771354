"""Which vector represents a sentence: mean, [CLS] or maximum, by correlation with human scores."""

import numpy as np
import streamlit as st

from sections.sentence_vectors.subject import Inputs, pooling_names
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.samples import similar_pairs, sts_b
from ui.translations import _


@st.cache_data(show_spinner=False, max_entries=24)
def correlations(model: str, version: int, pairs: list[tuple[str, str, float]], shipped: bool) -> dict[str, float]:
    """Pooling → Spearman's correlation of cosines and people's scores. shipped: whether they come with the project."""
    from minibert.inside.geometry.vectors import cosines, sentence_vectors
    from minibert.training.statistics import rank_correlation

    def correlate() -> dict[str, np.ndarray]:
        loaded = load(model)
        *sides, scores = zip(*pairs, strict=True)
        read = [sentence_vectors(loaded.model, loaded.tokenizer, side, tuple(pooling_names())) for side in sides]
        return {
            pooling: np.array(rank_correlation(cosines(*(side[pooling][-1] for side in read)), scores))
            for pooling in pooling_names()
        }

    values = first_view("sentence_vectors", "poolings", model, pairs, correlate) if shipped else correlate()
    return {pooling: float(value) for pooling, value in values.items()}


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.geometry.vectors import word_overlap
    from minibert.tokenizer import basic_tokens
    from minibert.training.statistics import rank_correlation, rank_interval
    from plots.sentence_vectors import Agreement, agreements

    lesson.show("Which pooling", title=False)
    sets = {_("The course’s own pairs"): similar_pairs(inputs.language)}
    if inputs.language == "en" and (pairs := sts_b()):
        sets[_("STS-B, dev")] = pairs
    for number, (name, pairs) in enumerate(sets.items()):
        left, right, scores = zip(*pairs, strict=True)
        with st.spinner(_("Reading {n} sentences …").format(n=2 * len(pairs))):
            values = correlations(inputs.model, version_of(inputs.model), pairs, shipped=number == 0)
        overlap = word_overlap(
            [(basic_tokens(a, True), basic_tokens(b, True)) for a, b in zip(left, right, strict=True)]
        )
        values = {pooling_names()[pooling]: value for pooling, value in values.items()}
        values |= {_("common words, counted"): rank_correlation(overlap, scores)}
        rows = [
            Agreement(words, value, *rank_interval(value, len(pairs)), words == pooling_names()[inputs.pooling])
            for words, value in values.items()
        ]
        best, next_best = sorted(rows, key=lambda row: -row.value)[:2]
        words = _("{set}: highest is “{name}”, {value:.2f}")
        if best.low < next_best.high:
            words = _("{set}: “{name}” ({value:.2f}) and “{other}” ({less:.2f}) cannot be told apart")
        summary = words.format(set=name, name=best.name, value=best.value, other=next_best.name, less=next_best.value)
        listed = _("; ").join(f"{row.name} {row.value:.2f}" for row in rows)
        figure(
            agreements(rows, summary, _("Spearman’s correlation, {n} pairs").format(n=len(pairs))),
            _("How well cosines agree with people’s scores, by pooling, with 95 % intervals. {told}.").format(
                told=listed
            ),
            f"pooling-{number}",
            data=[{_("pooling"): row.name, "ρ": row.value, _("from"): row.low, _("to"): row.high} for row in rows],
        )
    lesson.show("What the papers measured")
