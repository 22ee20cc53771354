"""One word, several senses: how well each layer and each model separates them."""

from functools import partial

import numpy as np
import streamlit as st

from sections.embeddings.subject import EVERY, Inputs, comparable, layer_names, missing
from ui.figures import figure, figure_title
from ui.first_views import first_view
from ui.inputs import choice
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.model_registry import UNTRAINED, title_of
from ui.runs import own_models
from ui.samples import one_word, senses
from ui.text import literal
from ui.translations import _


@st.cache_data(show_spinner=False, max_entries=24)
def separations(model: str, version: int, language: str, random: bool = False) -> dict[str, list]:
    """word → its separability at each layer. random: use random weights in the model's shape."""
    from minibert.inside.geometry.vectors import Separability, separability, span_vectors
    from minibert.inside.probes.probe import untrained_copy

    def compute() -> dict[str, np.ndarray]:
        loaded = load(model)
        weights = untrained_copy(loaded.model) if random else loaded.model
        result = {}
        for word, rows in senses(language).items():
            sample = one_word(word, rows, (), "")
            layers = span_vectors(weights, loaded.tokenizer, sample.texts, sample.spans)
            if not missing(layers).any():
                scores = [separability(layer, [sense for sense, _ in rows]) for layer in layers]
                result[word] = np.array([list(vars(one).values()) for one in scores])  # (L + 1, 3)
        return result

    stored = first_view("embeddings", "senses", model, [senses(language), random], compute)
    return {word: [Separability(*layer) for layer in layers.tolist()] for word, layers in stored.items()}


def show(lesson: Lesson, inputs: Inputs) -> None:
    """The curves by layer, and the comparison of models."""
    lesson.show("Where is the meaning?", title=False)
    _curves(inputs.model, inputs.language)
    _by_model(inputs.model, inputs.language)
    lesson.show("One word, several meanings", level=3)


@st.fragment
def _curves(model: str, language: str) -> None:
    from plots.over_layers import Line, Panel, over_layers

    with st.spinner(_("Computing vectors …")):
        scores = separations(model, version_of(model), language)
        random = separations(model, version_of(model), language, random=True) if model != UNTRAINED else {}
    if not scores:
        st.info(_("This model’s vocabulary reads none of these words."), icon=":material/translate:")
        return
    words = {EVERY: _("mean of all")} | {word: word for word in scores}
    word = choice("of", _("Word"), words, wrap=True)
    names = layer_names(len(next(iter(scores.values()))))
    chance = next(iter(scores.values()))[0].chance

    def line_of(rows, field: str, name: str, look: str = "first", faint: bool = False) -> Line:
        return Line(name, [getattr(one, field) for one in rows], look, faint=faint)

    def mean(found: dict, field: str, name: str, look: str) -> Line:
        from minibert.inside.geometry.vectors import mean_over

        return Line(name, mean_over({w: [getattr(one, field) for one in rows] for w, rows in found.items()}), look)

    panels = []
    for field, title, percent in (
        ("nearest", _("Nearest neighbour: same sense"), True),
        ("silhouette", _("Silhouette"), False),
    ):
        lines = [line_of(rows, field, w, "baseline", faint=True) for w, rows in scores.items()]
        if word != EVERY:
            lines.append(line_of(scores[word], field, word, "second"))
        lines.append(mean(scores, field, _("mean of all words"), "first"))
        if random:
            lines.append(mean(random, field, _("random weights, mean"), "baseline"))
        span = (0.0, 1.05) if percent else None
        references = {_("chance"): chance} if percent else {_("mixed"): 0.0}
        panels.append(Panel(title, lines, references, percent, span, faint=_("each word")))
    first, last = (panels[0].lines[-2 if random else -1].values[i] for i in (0, -1))
    summary = _(
        "The same sense is nearest in {first:.0%} at the embeddings, {last:.0%} at the last layer (chance {chance:.0%})"
    ).format(first=first, last=last, chance=chance)
    figure_title(summary, "separability")
    boxes = st.columns(2, gap="medium")  # a phone shows them below each other
    for box, panel, key, field in zip(
        boxes, panels, ("separability", "silhouettes"), ("nearest", "silhouette"), strict=True
    ):
        with box:
            figure(
                partial(over_layers, [panel], names, _("layer")),
                f"{panel.title}{_('. ')}{summary}{_('.')}",
                key,
                data=lambda field=field, panel=panel: [
                    {_("word"): w, _("layer"): name, panel.title: getattr(one, field)}
                    for w, rows in scores.items()
                    for name, one in zip(names, rows, strict=True)
                ],
            )
    best = max(scores, key=lambda w: (scores[w][-1].nearest, scores[w][-1].silhouette))
    worst = min(scores, key=lambda w: (scores[w][-1].nearest, scores[w][-1].silhouette))
    st.markdown(
        _(
            "At the last layer the senses of *{best}* separate best ({high:.0%}), those of *{worst}* worst ({low:.0%})."
        ).format(best=literal(best), high=scores[best][-1].nearest, worst=literal(worst), low=scores[worst][-1].nearest)
    )


@st.fragment(parallel=True)  # runs every model: the rest of the page does not wait
def _by_model(model: str, language: str) -> None:
    """How often the nearest neighbour at the last layer has the same sense: for this model, the others, and random
    weights."""
    from minibert.inside.geometry.vectors import mean_over

    own = {run.id for run in own_models()}
    others = [info for info in comparable(model, language) if info.name not in own and info.name != UNTRAINED]
    with st.spinner(_("Computing vectors …")):
        by_model = [(title_of(model), separations(model, version_of(model), language))]
        by_model += [(info.title, separations(info.name, info.version, language)) for info in others]
        if model != UNTRAINED:
            by_model.append((_("random weights"), separations(model, version_of(model), language, random=True)))
    shares = [(title, mean_over({w: [rows[-1].nearest] for w, rows in of.items()})[0]) for title, of in by_model if of]
    if not shares:
        return
    models = " · ".join(f"{literal(title)} **{share:.0%}**" for title, share in shares)
    st.markdown(_("All words at the last layer, nearest neighbour of the same sense: {models}.").format(models=models))
