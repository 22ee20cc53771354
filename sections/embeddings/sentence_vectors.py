"""Sentences compared: the cosine of every pair by two models, search by meaning, correlation with human scores."""

import tomllib
from collections.abc import Sequence
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from sections.embeddings.subject import Inputs, comparable
from ui.errors import translated
from ui.figures import figure, figure_title
from ui.first_views import first_view
from ui.inputs import pick, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.model_cache import load, version_of
from ui.model_registry import ModelInfo, title_of
from ui.model_widgets import choose_model
from ui.runs import own_models
from ui.samples import similar_pairs, similar_parts
from ui.text import literal, shorten, visible
from ui.translations import _

if TYPE_CHECKING:
    from plots.sentence_vectors import CosineMatrix

MOST = 8  # sentences beside each other
MAX_CHARS = 1_500
NAME = 28  # characters of a model's name in a figure
FOUND = 3  # sentences a search shows
QUERIES = {
    "en": ["A vessel for automobiles", "The kid has a temperature", "Somebody is preparing a meal"],
    "zh": ["孩子发烧了", "今天很冷"],
}


def read(model: str, texts: Sequence[str]) -> np.ndarray:
    """(L + 1, N, H): for each text the mean over its tokens."""
    from minibert.inside.geometry.vectors import sentence_vectors

    loaded = load(model)
    return sentence_vectors(loaded.model, loaded.tokenizer, texts, ("mean",))["mean"]


@st.cache_data(show_spinner=False, max_entries=48)
def typed(model: str, version: int, texts: tuple[str, ...]) -> np.ndarray:
    """`read` for a few texts of the user."""
    return read(model, texts)


@st.cache_data(show_spinner=False, max_entries=6)
def searched(model: str, version: int, language: str) -> np.ndarray:
    """`read` for all sentences of the search."""
    return read(model, haystack(language))


@cache
def haystack(language: str) -> tuple[str, ...]:
    """Every sentence of our pairs."""
    return tuple(dict.fromkeys(text for *pair, _score in similar_pairs(language) for text in pair))


@st.cache_data(show_spinner=False, max_entries=48)
def measured(model: str, version: int, language: str) -> dict[str, list[float]]:
    """Per layer: "agreement", Spearman's correlation of cosines and scores over the held-out pairs; "unrelated", the
    mean cosine of two sentences of different pairs."""
    from minibert.inside.geometry.vectors import agreement, mean_cosine

    pairs = similar_parts(language)[-1]

    def compute() -> dict[str, np.ndarray]:
        first, second, scores = zip(*pairs, strict=True)
        both = read(model, (*first, *second))
        left, right = both[:, : len(first)], both[:, len(first) :]
        unrelated = [mean_cosine(layer) for layer in left]
        return {"agreement": np.array(agreement(left, right, scores)), "unrelated": np.array(unrelated)}

    stored = first_view("embeddings", "sentences", model, pairs, compute)
    return {name: layers.tolist() for name, layers in stored.items()}


@cache
def default_sentences() -> dict[str, list[str]]:
    return tomllib.loads((LESSONS / "embeddings" / "sentences.toml").read_text(encoding="utf-8"))


# --- the user's sentences ---------------------------------------------------------------------------------------------


@st.fragment
def your_sentences(model: str, language: str, others: list[ModelInfo]) -> None:
    controls, picture = st.container(horizontal=True, vertical_alignment="bottom", gap="medium"), st.container()
    text = sentence_input(
        f"sentences-{language}",
        [],
        default="\n".join(default_sentences()[language]),
        multiline=True,
        height="content",
        label=_("Your sentences, one a line"),
        max_chars=MAX_CHARS,
    )
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))]
    if len(lines) > MOST:
        st.caption(_("The first {most} of {n} lines are shown.").format(most=MOST, n=len(lines)))
    with controls:
        layers = choose_layers(model, others)
    with picture:
        if len(lines) < 2:
            st.info(_("Two sentences are needed, a line each."), icon=":material/edit:")
        else:
            every_pair(layers, language, tuple(lines[:MOST]))
    search(layers, language)


def choose_layers(model: str, others: list[ModelInfo]) -> dict[str, int]:
    """The chosen model and the one beside it → the layer of each; in the other, the same relative depth."""
    depth = load(model).config.num_hidden_layers
    names = [_("embeddings"), *map(str, range(1, depth + 1))]
    layers = {model: pick(f"sentence-layer-{depth}", _("Layer"), names, depth, width=180)}
    if others:
        titles = {info.name: info.title for info in others}
        directories = {info.name: info.directory for info in others if info.directory}
        other = choose_model("beside", _("Beside it"), titles, directories)
        layers[other] = round(layers[model] * load(other).config.num_hidden_layers / depth)
    return layers


def every_pair(layers: dict[str, int], language: str, lines: tuple[str, ...]) -> None:
    from minibert.inside.geometry.vectors import closest_pair, cosine_matrix
    from plots.attention import number
    from plots.sentence_vectors import CosineMatrix, cosine_matrix_of

    panels, rows = [], []
    with st.spinner(_("Computing vectors …")):
        for name, layer in layers.items():
            similar = cosine_matrix(typed(name, version_of(name), lines)[layer])
            unrelated = measured(name, version_of(name), language)["unrelated"][layer]
            title = (
                _("{model}, layer {layer}").format(model=shorten(title_of(name), NAME), layer=layer),
                _("two at random: {cosine}").format(cosine=number(unrelated)),
            )
            panels.append(CosineMatrix(title, similar, closest_pair(similar)))
            pairs = combinations(range(len(lines)), 2)
            rows.append([{_("pair"): f"{a + 1} – {b + 1}", _("cosine"): round(similar[a, b], 3)} for a, b in pairs])
    summary = closest_in_words(panels, [shorten(title_of(name), NAME) for name in layers])
    figure_title(summary, "sentences")
    shown = [visible(line, spaces=False) for line in lines]
    boxes = st.columns(len(panels), gap="medium")  # a phone shows them below each other
    for box, key, panel, data in zip(boxes, ("sentences", "beside-them"), panels, rows, strict=False):
        with box:
            figure(
                partial(cosine_matrix_of, panel, shown, _("sentence")),
                _("The cosine of every pair of {n} sentences.").format(n=len(lines))
                + f" {summary}{_('. ')}{_(', ').join(panel.title)}{_('.')}",
                key,
                data=data,
                wide=len(lines) > 6,  # more do not fit a phone
            )


def closest_in_words(panels: "list[CosineMatrix]", titles: list[str]) -> str:
    pairs = [panel.closest for panel in panels]
    if len(set(pairs)) == 1 < len(pairs):
        return _("Closest in both: {a} and {b}").format(a=pairs[0][0] + 1, b=pairs[0][1] + 1)
    text = _("Closest in {model}: {a} and {b}")
    return _(". ").join(text.format(model=title, a=a + 1, b=b + 1) for title, (a, b) in zip(titles, pairs, strict=True))


def search(layers: dict[str, int], language: str) -> None:
    """Our sentences nearest to the user's query, by each of the models."""
    from minibert.inside.geometry.vectors import nearest
    from plots.attention import number

    sentences = haystack(language)
    query = sentence_input(
        f"query-{language}",
        QUERIES[language],
        default="",
        max_chars=MAX_CHARS,
        label=_("Which of our {n} sentences says something like this?").format(n=len(sentences)),
    )
    if not any(map(str.isalnum, query)):
        return
    with st.spinner(_("Reading {n} sentences …").format(n=len(sentences))):
        for column, (name, layer) in zip(st.columns(len(layers), gap="large"), layers.items(), strict=True):
            query_vector = typed(name, version_of(name), (query,))[layer, 0]
            best = nearest(searched(name, version_of(name), language)[layer], query_vector, FOUND)
            lines = [f"{n}. **{number(cosine)}** {literal(sentences[i])}" for n, (i, cosine) in enumerate(best, 1)]
            title = _("{model}, layer {layer}").format(model=literal(title_of(name)), layer=layer)
            column.markdown(f"**{title}**\n\n" + "\n".join(lines))


# --- against human scores ---------------------------------------------------------------------------------------------


@st.fragment(parallel=True)  # runs every model: the rest of the page does not wait
def against_scores(model: str, language: str, others: list[ModelInfo]) -> None:
    from minibert.inside.geometry.vectors import word_overlap
    from minibert.tokenizer import basic_tokens
    from minibert.training.statistics import rank_correlation, rank_interval
    from plots.attention import number
    from plots.sentence_vectors import Agreement, agreements

    pairs = similar_parts(language)[-1]
    own = {run.id for run in own_models()}
    compared = [model, *(info.name for info in others if info.name not in own)]
    with st.spinner(_("Reading {n} sentences with {m} models …").format(n=2 * len(pairs), m=len(compared))):
        values = {name: measured(name, version_of(name), language)["agreement"][-1] for name in compared}
    overlap = word_overlap([(basic_tokens(a, True), basic_tokens(b, True)) for a, b, _score in pairs])
    words = rank_correlation(overlap, [score for *_texts, score in pairs])
    rows = [
        Agreement(shorten(title_of(name), NAME), value, *rank_interval(value, len(pairs)), name == model)
        for name, value in values.items()
    ]
    rows.append(Agreement(_("common words, counted"), words, *rank_interval(words, len(pairs))))
    best = max(rows[:-1], key=lambda row: row.value)
    summary = _("Best of the models: {model}, {value}. Counting common words: {words}").format(
        model=best.name, value=number(best.value), words=number(words)
    )
    axis = _("Spearman’s correlation, {n} pairs").format(n=len(pairs)), _("line: 95 % interval")
    figure(
        partial(agreements, rows, summary, "<br>".join(axis)),
        _("; ").join(axis) + _(". ") + summary,
        "against-scores",
        data=[{_("model"): row.name, "ρ": row.value, _("from"): row.low, _("to"): row.high} for row in rows],
    )


def show(lesson: Lesson, inputs: Inputs) -> None:
    """The user's sentences pair by pair, and how well each model's cosines correlate with human scores."""
    from minibert.sentence_vectors.packaged import PACKAGED, NotInstalledError, PackageError

    model, language = inputs.model, inputs.language
    others = comparable(model, language)
    your_sentences(model, language, others)
    lesson.show("Sentences beside each other", level=3)
    trained = next(one for one in PACKAGED.values() if one.language == language)
    try:
        trained.directory()
    except PackageError as error:
        missing = _("{model} is not installed. {command} adds it.")
        words = missing.format(model=trained.name, command=f"`{trained.command}`")
        st.caption(words if isinstance(error, NotInstalledError) else literal(translated(error)))
    lesson.show("Trained to compare", level=3)
    against_scores(model, language, others)
    lesson.show("Held against scores", title=False)
