"""Embeddings: vectors of tokens, words and sentences at every layer; one word, several meanings; angles."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.embeddings import sentence_vectors
from sections.embeddings.models import comparable
from ui.computations import compute, computed, fingerprint, follow, show_failure
from ui.figures import figure, readable
from ui.inputs import MAX_SEED, choice, sentence_input
from ui.lesson import Lesson
from ui.models import UNTRAINED, WELL_READ, load, model_choice, title_of, version_of, warn_untrained
from ui.moving_points import Points, moving_points, told
from ui.navigation import next_lesson
from ui.runs import own_models, show_refusal
from ui.samples import (
    LANGUAGES,
    Sample,
    all_words,
    annotated,
    many_words,
    one_word,
    own_tokens,
    place_of,
    senses,
    similar_pairs,
    whole_sentences,
)
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal, show_tokens, visible
from ui.translations import _, ngettext

if TYPE_CHECKING:
    import numpy as np

# What imports torch or plotly is imported where it is first needed: the page shows before that.

VIEW = "moving"  # the key of the moving picture
SEED = 0
MAX_LINES = 12  # sentences of the reader's
MAX_CHARS = 2_000
NEIGHBOURS = 5
VOCABULARY = 10  # nearest tokens shown
EVERY = "*"  # all words of the set
DIRECTIONS = 400  # words whose directions are compared

lesson = Lesson("embeddings")


# --- what is computed -------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=12)
def vectors(model: str, version: int, texts: tuple[str, ...], spans, pooling: str) -> "np.ndarray":
    """(L + 1, N, H), NaN where nothing of a thing was read; computed once for everyone."""
    from minibert.inside.vectors import sentence_vectors, span_vectors

    loaded = load(model)
    if spans is None:
        return sentence_vectors(loaded.model, loaded.tokenizer, texts, (pooling,))[pooling]
    return span_vectors(loaded.model, loaded.tokenizer, texts, spans)


@st.cache_data(show_spinner=False, max_entries=24)
def planes(name: str, _layers: "np.ndarray") -> list[dict]:
    """The pictures by PCA."""
    from minibert.inside.aligned_projections import pictures

    return [picture.as_dict() for picture in pictures(_layers, "pca", SEED)]


@st.cache_data(show_spinner=False, max_entries=24)
def separations(model: str, version: int, language: str, random: bool = False) -> dict[str, list]:
    """word → its separability at each layer. random: of random weights in the model's shape."""
    from minibert.inside.probes import untrained_copy
    from minibert.inside.vectors import separability, span_vectors

    loaded = load(model)
    weights = untrained_copy(loaded.model) if random else loaded.model
    result = {}
    for word, rows in senses(language).items():
        sample = one_word(word, rows, (), "")
        layers = span_vectors(weights, loaded.tokenizer, sample.texts, sample.spans)
        if not _missing(layers).any():
            result[word] = [separability(layer, [sense for sense, _ in rows]) for layer in layers]
    return result


@st.cache_data(show_spinner=False, max_entries=24)
def similarity(model: str, version: int, language: str, centre: bool) -> dict[str, list[float]]:
    """pooling → Spearman's correlation at each layer."""
    from minibert.inside.vectors import agreement, sentence_vectors

    loaded = load(model)
    first, second, scores = zip(*similar_pairs(language), strict=True)
    left, right = (sentence_vectors(loaded.model, loaded.tokenizer, texts) for texts in (first, second))
    return {name: agreement(left[name], right[name], scores, centre) for name in left}


@st.cache_data(show_spinner=False, max_entries=24)
def directions(model: str, version: int, language: str) -> list:
    """How unevenly the vectors of words spread, at each layer: one word of each of many sentences."""
    import numpy as np

    from minibert.inside.vectors import anisotropy, joined

    rng = np.random.default_rng(SEED)
    rows = [joined(words) for words, *_columns in annotated(language)][:DIRECTIONS]
    spans = tuple((where[int(rng.integers(len(where)))],) for _, where in rows)
    layers = vectors(model, version, tuple(text for text, _ in rows), spans, "mean")
    return [anisotropy(layer[~_missing(layers)]) for layer in layers]


def _missing(layers: "np.ndarray") -> "np.ndarray":
    """(N,) True for things that the model has not read."""
    import numpy as np

    return np.isnan(layers[0]).any(-1)


def layer_names(count: int) -> list[str]:
    return [_("embeddings"), *(str(number) for number in range(1, count))]


# --- pictures ---------------------------------------------------------------------------------------------------------


def what_names() -> dict[str, str]:
    return {
        "senses": _("one word"),
        "words": _("words"),
        "sentences": _("sentences"),
        "tokens": _("your tokens"),
    }


def pooling_names() -> dict[str, str]:
    return {"mean": _("mean of all tokens"), "cls": "[CLS]", "max": _("maximum of all tokens")}


def method_names() -> dict[str, str]:
    return {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}


def group_names() -> dict[str, str]:
    """The groups of words that our own sets mark, in words."""
    return {
        "noun": _("noun"), "name": _("name"), "verb": _("verb"), "adjective": _("adjective"), "pronoun": _("pronoun"),
        "preposition": _("preposition"), "number": _("number"),
    }  # fmt: skip


@st.fragment
def pictures(model: str, language: str) -> None:
    lesson.show("A place for every word")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        what = choice("what", _("Points"), what_names())
        method = choice("method", _("Projection"), method_names())
        view = choice("view", _("Layers"), {"moving": _("moving"), "all": _("side by side")})
        seed = SEED
        if method == "umap":  # the two others begin the same way every time
            seed = st.number_input(_("Seed"), 0, MAX_SEED, SEED, key="seed", bind="query-params", width=140)
    sample, pooling = choose_sample(model, language, what)
    if sample is None:
        return
    version = version_of(model)
    with st.spinner(_("Computing vectors …")):
        layers = vectors(model, version, sample.texts, sample.spans, pooling)
    sample, layers = read_only(sample, layers)
    from minibert.inside.aligned_projections import LEAST_POINTS

    if len(sample) < LEAST_POINTS:
        st.info(_("A picture needs at least {n} points.").format(n=LEAST_POINTS), icon=":material/edit:")
        return
    name = fingerprint(layers.tobytes(), layers.shape)
    shown = laid_out(method, int(seed or 0), name, layers)
    draw_pictures(model, sample, layers, shown, view, name)


def choose_sample(model: str, language: str, what: str) -> tuple[Sample | None, str]:
    """The reader's choice of points, and how sentences are pooled; None while there is nothing to show."""
    pooling, yours = "mean", _("yours")
    if what == "tokens":
        text = sentence_input("text", lesson.examples, label=_("Your text"), max_chars=MAX_CHARS)
        loaded = load(model)
        encoding = loaded.tokenizer.encode(text, max_length=loaded.config.max_position_embeddings, truncation="head")
        return own_tokens(encoding, text, (_("whole word"), _("goes on (##)"))), pooling
    if what == "senses":
        words = {word: word for word in senses(language)} | {EVERY: _("all of them")}
        word = choice("word", _("Word"), words, wrap=True)
    elif what == "sentences":
        pooling = choice("pooling", _("A sentence’s vector"), pooling_names())
    if what == "senses" and word == EVERY:
        return all_words(language), pooling
    own = own_lines(word if what == "senses" else None)
    if what == "senses":
        return one_word(word, senses(language)[word], own, yours), pooling
    return (many_words if what == "words" else whole_sentences)(language, own, yours), pooling


def own_lines(word: str | None) -> list[str]:
    """Sentences that the reader adds, a line each; with a `word`, those that have it."""
    label = _("Add sentences of your own, one a line")
    if word is not None:
        label = _("Add sentences of your own with “{word}”, one a line").format(word=word)
    hint = _("They appear as stars.")
    text = sentence_input("own", [], default="", label=label, placeholder=hint, max_chars=MAX_CHARS,
                          multiline=True)  # fmt: skip
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    if len(lines) > MAX_LINES:
        st.caption(_("The first {most} of {n} lines are shown.").format(most=MAX_LINES, n=len(lines)))
    lines = lines[:MAX_LINES]
    without = [number for number, line in enumerate(lines, 1) if word is not None and place_of(word, line) is None]
    if without:
        st.caption(
            ngettext("Line {lines} is left out: “{word}” does not stand in it.",
                     "Lines {lines} are left out: “{word}” does not stand in them.", len(without))
            .format(lines=", ".join(map(str, without)), word=literal(word))
        )  # fmt: skip
    return lines


def read_only(sample: Sample, layers: "np.ndarray") -> tuple[Sample, "np.ndarray"]:
    """Without the things that the model has not read."""
    missing = _missing(layers)
    if not missing.any():
        return sample, layers
    st.caption(
        _("{n} of {all} are left out: the model does not read them.").format(n=int(missing.sum()), all=len(sample))
    )
    keep = [i for i in range(len(sample)) if not missing[i]]
    picked = {name: tuple(getattr(sample, name)[i] for i in keep) for name in ("of", "titles", "marks")}
    return Sample(sample.texts, sample.spans, sample.groups, own=sample.own, **picked), layers[:, keep]


def laid_out(method: str, seed: int, name: str, layers: "np.ndarray") -> tuple[str, list[dict]]:
    """(method, the picture of each layer): by PCA while another method has not been computed."""
    if method == "pca":
        return "pca", planes(name, layers)
    run_name = f"{method}-{seed}-{name}"
    run = computed(run_name)
    if run is not None and run.state == "finished":
        return method, [event for event in run.events() if event["event"] == "picture"]
    title = _("{method} of {n} points at {layers} layers").format(
        method=method_names()[method], n=layers.shape[1], layers=len(layers)
    )
    if run is None:
        st.button(
            _("Compute {title}").format(title=title),
            key="compute",
            type="primary",
            icon=":material/play_arrow:",
            on_click=partial(
                compute, run_name, "minibert.inside.aligned_projections:pictures", layers, method, seed, title=title
            ),
        )
        show_refusal()
        show_failure(run_name)
    follow((run_name,), lambda runs: None)
    st.caption(_("Until {method} is there, PCA shows the same points.").format(method=method_names()[method]))
    return "pca", planes(name, layers)


def draw_pictures(model: str, sample: Sample, layers: "np.ndarray", shown, view: str, identity: str) -> None:
    from minibert.inside.aligned_projections import movement

    method, drawn = shown
    names = layer_names(len(layers))
    groups = [group_names().get(group, group) for group in sample.groups]
    layouts = [picture["points"] for picture in drawn]
    layer, chosen = where_we_are(len(layers), len(sample), identity)
    trusts = ", ".join(f"{name} {picture['trust']:.2f}" for name, picture in zip(names, drawn, strict=True))
    alt = _(
        "{n} points in the plane by {method}, at {layers} layers; groups: {groups}. Trustworthiness by layer: {trusts}."
    ).format(n=len(sample), method=method_names()[method], layers=len(layers), groups=", ".join(groups), trusts=trusts)

    def table():
        return [
            {_("point"): visible(title, spaces=False), _("group"): groups[group], "x": x, "y": y}
            for title, group, (x, y) in zip(sample.titles, sample.of, layouts[layer], strict=True)
        ]

    if view == "all":
        from plots.embeddings import side_by_side

        fig = side_by_side(
            layouts, names, groups, sample.of, [visible(t, spaces=False) for t in sample.titles], sample.own
        )
        with st.container(key="wide-pictures"):
            figure(fig, alt, "side-by-side", data=table)
    else:
        near = neighbours_of(layers, chosen)
        moving_points(
            VIEW,
            Points(
                identity, layouts, names, groups, sample.of,
                [visible(title, spaces=False) for title in sample.titles],
                [visible(mark, spaces=False) for mark in sample.marks], sample.own,
            ),
            layer=layer,
            chosen=chosen,
            near=[[place for place, _cosine in row] for row in near],
            alt=alt,
            data=table,
            on_layer=partial(heard, "layer"),
            on_point=partial(heard, "point"),
        )  # fmt: skip
    moved = movement(layouts)
    furthest = max(range(len(moved)), key=moved.__getitem__)
    st.markdown(
        _(
            "Trustworthiness at layer {layer}: {trust:.2f} (1: who is near in the picture is near in the model). Most "
            "moves between {a} and {b}: {far:.2f} of the picture’s size; least is {least:.2f}."
        ).format(
            layer=names[layer], trust=drawn[layer]["trust"], a=names[furthest], b=names[furthest + 1],
            far=moved[furthest], least=min(moved),
        )
        + " "
        + told_apart(sample, layers[layer], names[layer])
    )  # fmt: skip
    if view == "moving":
        show_neighbours(model, sample, groups, layers, layer, chosen)


def told_apart(sample: Sample, layer: "np.ndarray", name: str) -> str:
    """How many of our points have their like nearest to them, in the whole vectors."""
    from minibert.inside.vectors import nearest_alike

    ours = [i for i, group in enumerate(sample.of) if group != sample.own]
    groups = [sample.of[i] for i in ours]
    if len(set(groups)) < 2:
        return ""
    return _("**At layer {layer} the nearest other vector is of the same group for {n} of {all}.**").format(
        layer=name, n=int(nearest_alike(layer[ours], groups).sum()), all=len(ours)
    )


def where_we_are(layers: int, points: int, identity: str) -> tuple[int, int | None]:
    """The layer and the chosen point: from the link, else as they were; other points begin with none chosen."""
    state = st.session_state
    if follow_link("layer") or "layer-now" not in state:
        state["layer-now"] = url_int("layer", layers - 1, 0, layers - 1)
    if follow_link("point") or "point-now" not in state:
        state["point-now"] = (identity, url_int("point", 0, 1, points) - 1)
    if state["point-now"][0] != identity:
        state["point-now"] = (identity, -1)
    state["identity"] = identity
    layer, point = min(state["layer-now"], layers - 1), state["point-now"][1]
    set_url("layer", layer, default=layers - 1)
    set_url("point", point + 1, default=0)
    return layer, point if 0 <= point < points else None


def heard(what: str) -> None:
    """What the reader has done in the moving picture."""
    value, state = told(VIEW, what), st.session_state
    if value is not None and what == "layer":
        state["layer-now"] = value
    elif value is not None:
        state["point-now"] = (state["identity"], value)


def neighbours_of(layers: "np.ndarray", chosen: int | None) -> list[list[tuple[int, float]]]:
    """Of each layer (point, cosine) of the nearest other points."""
    from minibert.inside.vectors import nearest

    if chosen is None:
        return [[] for _layer in layers]
    return [nearest(layer, layer[chosen], NEIGHBOURS, leave_out=chosen) for layer in layers]


def show_neighbours(model: str, sample: Sample, groups: list[str], layers, layer: int, chosen: int | None) -> None:
    """The nearest points and the nearest tokens of the vocabulary, of the chosen point at this layer."""
    lesson.show("Neighbours", level=3)
    titles = [visible(title, spaces=False) for title in sample.titles]
    picked = st.selectbox(
        _("Point"),
        range(len(sample)),
        index=chosen,
        format_func=lambda i: f"{i + 1} · {titles[i]}",
        key=f"point-box-{chosen}",
        placeholder=_("Click a mark above, or choose here"),
    )
    if picked is not None and picked != chosen:
        st.session_state["point-now"] = (st.session_state["identity"], picked)
        st.rerun(scope="fragment")
    if chosen is None:
        return
    from minibert.inside.vectors import nearest_tokens

    left, right = st.columns([3, 2], gap="large")
    near = neighbours_of(layers, chosen)[layer]
    with left:
        st.markdown("**" + _("Nearest points at layer {layer}").format(layer=layer_names(len(layers))[layer]) + "**")
        rows = [
            {_("cosine"): round(cosine, 3), _("group"): groups[sample.of[i]], _("point"): titles[i]}
            for i, cosine in near
        ]
        st.dataframe(rows, hide_index=True)
        same = sum(sample.of[i] == sample.of[chosen] for i, _cosine in near)
        st.markdown(
            _("{same} of {n} are of its own group, **{group}**.").format(
                same=same, n=len(near), group=literal(groups[sample.of[chosen]])
            )
        )
    with right:
        loaded = load(model)
        tokens = nearest_tokens(loaded.model, loaded.tokenizer, layers[layer, chosen], VOCABULARY)
        st.markdown("**" + _("Nearest in the vocabulary") + "**")
        show_tokens(
            [token for token, _cosine in tokens],
            under=[f"{cosine:.2f}" for _token, cosine in tokens],
            label=_("Nearest in the vocabulary"),
        )


# --- the senses over the layers ---------------------------------------------------------------------------------------


@st.fragment
def meanings(model: str, language: str) -> None:
    from plots.over_layers import Line, Panel, over_layers

    lesson.show("One word, several meanings")
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
        from minibert.inside.vectors import mean_over

        return Line(name, mean_over({w: [getattr(one, field) for one in rows] for w, rows in found.items()}), look)

    panels = []
    for field, title, percent in (
        ("nearest", _("Nearest neighbour has the same sense"), True),
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
        "Over all words, {first:.0%} at the embeddings and {last:.0%} at the last layer; chance is {chance:.0%}."
    ).format(first=first, last=last, chance=chance)
    figure(
        over_layers(panels, names, _("layer")),
        _("How well senses can be told apart, layer by layer.") + " " + summary,
        "separability",
        data=lambda: [
            {_("word"): w, _("layer"): name, _("nearest"): one.nearest, _("silhouette"): one.silhouette}
            for w, rows in scores.items()
            for name, one in zip(names, rows, strict=True)
        ],
    )
    best = max(scores, key=lambda w: (scores[w][-1].nearest, scores[w][-1].silhouette))
    worst = min(scores, key=lambda w: (scores[w][-1].nearest, scores[w][-1].silhouette))
    st.markdown(
        f"**{summary}** "
        + _("At the last layer *{best}* is told apart best ({high:.0%}), *{worst}* worst ({low:.0%}).").format(
            best=best, high=scores[best][-1].nearest, worst=worst, low=scores[worst][-1].nearest
        )
    )


@st.fragment(parallel=True)  # it reads with every model: the rest of the page does not wait for it
def senses_by_model(model: str, language: str) -> None:
    """How often the nearest neighbour has the same sense at the last layer: the model, the others, random weights of
    its shape."""
    from minibert.inside.vectors import mean_over

    own = {run.id for run in own_models()}
    others = [info for info in comparable(model, language) if info.name not in own and info.name != UNTRAINED]
    with st.spinner(_("Computing vectors …")):
        found = [(title_of(model), separations(model, version_of(model), language))]
        found += [(info.title, separations(info.name, info.version, language)) for info in others]
        if model != UNTRAINED:
            found.append((_("random weights"), separations(model, version_of(model), language, random=True)))
    shares = [(title, mean_over({w: [rows[-1].nearest] for w, rows in of.items()})[0]) for title, of in found if of]
    if not shares:
        return
    models = " · ".join(f"{literal(title)} **{share:.0%}**" for title, share in shares)
    st.markdown(_("All words at the last layer, nearest neighbour of the same sense: {models}.").format(models=models))


# --- sentences --------------------------------------------------------------------------------------------------------


@st.fragment
def poolings(model: str, language: str) -> None:
    from minibert.inside.vectors import word_overlap
    from minibert.tokenizer import basic_tokens
    from plots.over_layers import Line, Panel, over_layers

    lesson.show("A vector for a sentence")
    from scipy.stats import spearmanr

    centre = st.toggle(_("Subtract the layer’s mean vector first"), key="centre", bind="query-params")
    pairs = similar_pairs(language)
    with st.spinner(_("Computing {n} sentence vectors …").format(n=2 * len(pairs))):
        found = similarity(model, version_of(model), language, centre)
    overlap = word_overlap([(basic_tokens(a, True), basic_tokens(b, True)) for a, b, _score in pairs])
    words = float(spearmanr(overlap, [score for *_texts, score in pairs]).statistic)
    looks = dict(zip(found, ("second", "first", "third"), strict=True))
    lines = [Line(pooling_names()[name], values, looks[name]) for name, values in found.items()]
    names = layer_names(len(lines[0].values))
    best = max(found, key=lambda name: max(found[name]))
    where = max(range(len(names)), key=found[best].__getitem__)
    summary = _(
        "Best here: {pooling} at layer {layer}, {value:.2f}. Counting common words alone gets {words:.2f}."
    ).format(pooling=pooling_names()[best], layer=names[where], value=found[best][where], words=words)
    panel = Panel(_("Spearman’s correlation with people’s scores"), lines, {_("common words"): words})
    figure(
        over_layers([panel], names, _("layer"), columns=1),
        _("Agreement of cosines with scores of {n} pairs, by layer and pooling.").format(n=len(overlap))
        + " "
        + summary,
        "poolings",
        data=lambda: {_("layer"): names, **{pooling_names()[name]: values for name, values in found.items()}},
    )
    st.markdown(f"**{summary}**")


@st.fragment
def narrow_cone(model: str, language: str) -> None:
    from plots.attention import number
    from plots.over_layers import Line, Panel, over_layers

    lesson.show("All in one direction")
    with st.spinner(_("Computing vectors …")):
        found = directions(model, version_of(model), language)
    names = layer_names(len(found))
    panel = Panel(
        _("Mean cosine of two words from different sentences"),
        [
            Line(_("as they are"), [one.plain for one in found]),
            Line(_("after the mean vector is subtracted"), [one.centred for one in found], "second"),
        ],
        {_("evenly spread"): 0.0},
        span=(min(-0.05, *(one.centred for one in found)), 1.0),
    )
    last = found[-1]
    summary = _(
        "At the last layer two random words have a cosine of {plain} on average, {centred} once the mean "
        "vector is gone; a single direction holds {share:.0%} of all squared length."
    ).format(plain=number(last.plain), centred=number(last.centred), share=last.strongest)
    figure(
        over_layers([panel], names, _("layer"), columns=1),
        summary,
        "cone",
        data=lambda: {
            _("layer"): names,
            _("as they are"): [one.plain for one in found],
            _("centred"): [one.centred for one in found],
            _("strongest direction"): [one.strongest for one in found],
        },
    )
    st.markdown(f"**{summary}**")


def code() -> None:
    from minibert.inside.aligned_projections import pictures as aligned
    from minibert.inside.vectors import separability, span_vectors

    lesson.show("The code")
    show_source(span_vectors, find="mean(0)")
    show_source(aligned, find="turned_onto")
    show_source(separability, find="silhouette_score")


def language_of(model: str) -> str:
    """The language of the examples: the reader's choice, at first the one that the model's vocabulary is made for."""
    from minibert.text.characters import mostly_cjk

    names = {"en": _("English"), "zh": _("Chinese")}
    own = "zh" if mostly_cjk(load(model).tokenizer.vocab) else "en"
    order = sorted(LANGUAGES, key=lambda name: name != own)
    return choice(f"examples-{own}", _("Examples in"), {name: names[name] for name in order})


readable()
lesson.show_title()
lesson.show("Where is the meaning?")
with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
    model = model_choice(usual=WELL_READ)
    language = language_of(model)
warn_untrained(model)
pictures(model, language)
meanings(model, language)
senses_by_model(model, language)
poolings(model, language)
sentence_vectors.show(lesson, model, language)
narrow_cone(model, language)
lesson.show("What a picture cannot show")
code()
lesson.quiz()
next_lesson("embeddings")
