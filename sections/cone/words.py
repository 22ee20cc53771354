"""How narrow the cone is in each layer, and whether frequent words lie near the origin."""

from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.cone.subject import Inputs, every_layer, to_fit
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.source import show_source
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np

    from minibert.inside.geometry.vectors import Anisotropy

PLAIN = {"en": "mini-en", "zh": "mini-zh"}  # BERTs that were only pre-trained
THEIRS = "0.95", "1.04", "1.22", "1.45"  # Li et al. 2020, table 1


@st.cache_data(show_spinner=False, max_entries=12)
def norms(model: str, version: int, language: str):
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.sentence_vectors.anisotropy import word_norms

    loaded = load(model)
    return word_norms(encoder_of(loaded.model), loaded.tokenizer, to_fit(language))


@st.cache_data(show_spinner=False, max_entries=12)
def anisotropies(model: str, version: int, lines: tuple[str, ...]) -> "list[Anisotropy]":
    """Of each layer."""
    import numpy as np

    from minibert.inside.geometry.vectors import Anisotropy, anisotropy

    def compute() -> "dict[str, np.ndarray]":
        return {"layers": np.array([astuple(anisotropy(layer)) for layer in every_layer(model, version, lines)])}

    layers = first_view("cone", "anisotropy", model, [lines], compute)["layers"]
    return [Anisotropy(*layer) for layer in layers.tolist()]


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.geometry.vectors import mean_cosine
    from plots.over_layers import Line, Panel, over_layers

    lesson.show("The cone", title=False)
    with st.spinner(_("Reading {n:,} sentences …").format(n=len(inputs.lines))):
        by_layer = anisotropies(inputs.model, version_of(inputs.model), inputs.lines)
    plain, references = PLAIN.get(inputs.language), {}
    if plain not in (None, inputs.model):
        cosine = anisotropies(plain, version_of(plain), inputs.lines)[-1].plain
        references[_("{model}, last block: {cosine:.2f}").format(model=plain, cosine=cosine)] = cosine
    names = [_("embeddings"), *map(str, range(1, len(by_layer)))]
    summary = _(
        "Each layer alone, mean cosine of two sentences: {first:.2f} at the embeddings, {last:.2f} at the last block"
    ).format(first=by_layer[0].plain, last=by_layer[-1].plain)
    summary = _("; ").join([summary, *references])
    figure(
        partial(
            over_layers,
            [
                Panel(
                    "",
                    [
                        Line(_("as they are"), [one.plain for one in by_layer]),
                        Line(_("mean subtracted"), [one.centred for one in by_layer], "second"),
                    ],
                    references,
                )
            ],
            names,
            _("layer"),
            title=summary,
        ),
        _("How narrow the cone is, by layer. {summary}.").format(summary=summary),
        "narrow",
        data=[
            {
                _("layer"): name,
                _("mean cosine"): round(one.plain, 3),
                _("mean subtracted"): round(one.centred, 3),
                _("commonest direction"): round(one.strongest, 3),
            }
            for name, one in zip(names, by_layer, strict=True)
        ],
    )
    lesson.show("Frequent words")
    bands = norms(inputs.model, version_of(inputs.model), inputs.language)
    st.table(
        [
            {
                _("rank by frequency"): f"{band.first:,}–{band.last:,}",
                _("mean length"): f"{band.norm:.2f}",
                _("mean cosine"): f"{band.cosine:.2f}",
                _("such as"): literal(" · ".join(band.examples)),
            }
            for band in bands
        ]
    )
    st.caption(
        _(
            "Token embeddings of {model}, counted in {n:,} sentences of the course. The paper’s, of BERT-base counted "
            "in Wikipedia, from the 100 commonest to the rarest: {theirs} (Li et al. 2020, table 1)."
        ).format(model=literal(inputs.model), n=len(to_fit(inputs.language)), theirs=_(", ").join(THEIRS))
    )
    show_source(mean_cosine)
