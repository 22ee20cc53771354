"""What a picture cannot show: all vectors lie in a narrow cone, and no number here is a proof; the code."""

from functools import partial

import streamlit as st

from sections.embeddings.subject import SEED, SENTENCE_ENCODER, Inputs, layer_names, missing, vectors
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import version_of
from ui.samples import annotated
from ui.source import show_source
from ui.translations import _

DIRECTIONS = 400  # words whose directions are compared


@st.cache_data(show_spinner=False, max_entries=24)
def directions(model: str, version: int, language: str) -> list:
    """Anisotropy of word vectors at each layer: one random word from each of many sentences."""
    import numpy as np

    from minibert.inside.geometry.vectors import Anisotropy, anisotropy, joined

    rng = np.random.default_rng(SEED)
    rows = [joined(words) for words, *_columns in annotated(language)][:DIRECTIONS]
    spans = tuple((where[int(rng.integers(len(where)))],) for _, where in rows)

    def compute() -> dict[str, np.ndarray]:
        layers = vectors(model, version, tuple(text for text, _ in rows), spans, "mean")
        found = [anisotropy(layer[~missing(layers)]) for layer in layers]
        return {"layers": np.array([list(vars(one).values()) for one in found])}  # (L + 1, 3)

    stored = first_view("embeddings", "directions", model, [rows, spans], compute)["layers"]
    return [Anisotropy(*layer) for layer in stored.tolist()]


def show(lesson: Lesson, inputs: Inputs) -> None:
    """How narrow the cone is, what pictures and numbers leave open, the code."""
    _narrow_cone(lesson, inputs)
    lesson.show("What a picture cannot show", level=3)
    _code(lesson)


def _narrow_cone(lesson: Lesson, inputs: Inputs) -> None:
    from plots.attention import number
    from plots.over_layers import Line, Panel, over_layers

    with st.spinner(_("Computing vectors …")):
        by_layer = directions(inputs.model, version_of(inputs.model), inputs.language)
    names = layer_names(len(by_layer))
    panel = Panel(
        _("Mean cosine of two words from different sentences"),
        [
            Line(_("as they are"), [one.plain for one in by_layer]),
            Line(_("after the mean vector is subtracted"), [one.centred for one in by_layer], "second"),
        ],
        {_("evenly spread"): 0.0},
        span=(min(-0.05, *(one.centred for one in by_layer)), 1.0),
    )
    last = by_layer[-1]
    summary = _(
        "At the last layer two random words have a cosine of {plain}, {centred} once the mean vector is gone"
    ).format(plain=number(last.plain), centred=number(last.centred))
    strongest = _("A single direction holds {share:.0%} of all squared length there.").format(share=last.strongest)
    figure(
        partial(over_layers, [panel], names, _("layer"), columns=1, title=summary),
        summary + _(". ") + strongest,
        "cone",
        data=lambda: {
            _("layer"): names,
            _("as they are"): [one.plain for one in by_layer],
            _("centred"): [one.centred for one in by_layer],
            _("strongest direction"): [one.strongest for one in by_layer],
        },
    )
    st.markdown(strongest)
    if inputs.model == SENTENCE_ENCODER:  # first, for the picture is of an exception
        lesson.show("A cone that was opened", level=3)
    lesson.show("All in one direction", level=3)


def _code(lesson: Lesson) -> None:
    from minibert.inside.geometry.aligned_projections import pictures as aligned
    from minibert.inside.geometry.vectors import separability, span_vectors

    lesson.show("The code", level=3)
    show_source(span_vectors, find="mean(0)")
    show_source(aligned, find="turned_onto")
    show_source(separability, find="silhouette_score")
