"""The picture: every point rises through the layers; a new star does so once the user has predicted where it lands."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.embeddings import neighbours
from sections.embeddings.subject import EVERY, Inputs, layer_names, method_names, missing, vectors
from ui.computations import compute, fingerprint, follow, running_or_done, show_failure
from ui.figures import figure
from ui.lesson import Lesson
from ui.model_cache import version_of
from ui.moving_points import Points, moving_points
from ui.page import picture
from ui.player import reported_value
from ui.predict import predict
from ui.runs import show_refusal
from ui.samples import VectorItems, senses
from ui.state import follow_link, set_url, url_int
from ui.text import literal, visible
from ui.translations import _, pgettext

if TYPE_CHECKING:
    import numpy as np

VIEW = "moving"  # the key of the moving picture


@st.cache_data(show_spinner=False, max_entries=24)
def planes(name: str, _layers: "np.ndarray") -> list[dict]:
    """The PCA picture of each layer."""
    from minibert.inside.geometry.aligned_projections import pictures
    from sections.embeddings.subject import SEED

    return [plane.as_dict() for plane in pictures(_layers, "pca", SEED)]


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The points at a layer, the neighbours of the chosen one, and how to interpret such a picture."""
    from minibert.inside.geometry.aligned_projections import LEAST_POINTS

    sample, layers = _read(inputs, inputs.sample())
    if inputs.own and inputs.word is not None and not _guessed(inputs, sample, layers):
        sample, layers = _read(inputs, inputs.sample(own=()))
    if len(sample) < LEAST_POINTS:
        st.info(_("A picture needs at least {n} points.").format(n=LEAST_POINTS), icon=":material/edit:")
        return
    name = fingerprint(layers.tobytes(), layers.shape)
    method, drawn = _laid_out(inputs, name, layers)
    groups = [group_names().get(group, group) for group in sample.groups]
    layer, chosen = _where_we_are(len(layers), len(sample), name)
    _draw(inputs, sample, groups, layers, method, drawn, layer, chosen, name)
    _measures(layers, drawn, layer)
    left, right = st.columns(2, gap="large")
    with left:
        lesson.show("Neighbours", level=3)
    with right:
        lesson.show("A place for every word", level=3)
    if inputs.view == "moving":
        with left:
            neighbours.pick(sample, chosen, _choose)
        if chosen is not None:
            neighbours.show(inputs.model, sample, groups, layers, layer, chosen)


def _read(inputs: Inputs, sample: VectorItems) -> tuple[VectorItems, "np.ndarray"]:
    """The sample without the points that the model cannot read, and its vectors."""
    with st.spinner(_("Computing vectors …")):
        layers = vectors(inputs.model, version_of(inputs.model), sample.texts, sample.spans, inputs.pooling)
    gone = missing(layers)
    if not gone.any():
        return sample, layers
    st.caption(_("{n} of {all} are left out: the model does not read them.").format(n=int(gone.sum()), all=len(sample)))
    keep = [i for i in range(len(sample)) if not gone[i]]
    picked = {name: tuple(getattr(sample, name)[i] for i in keep) for name in ("of", "titles", "marks")}
    return VectorItems(sample.texts, sample.spans, sample.groups, own=sample.own, **picked), layers[:, keep]


def _guessed(inputs: Inputs, sample: VectorItems, layers: "np.ndarray") -> bool:
    """Ask where the user's newest star lands; True if it may be shown."""
    from minibert.inside.geometry.vectors import nearest

    if inputs.word == EVERY or sample.own is None:
        return True
    meanings = list(dict.fromkeys(sense for sense, _sentence in senses(inputs.language)[inputs.word]))
    others = [i for i in range(len(sample)) if sample.of[i] != sample.own]
    ((closest, _cosine),) = nearest(layers[-1][others], layers[-1][len(sample) - 1], 1)
    question = _("“{text}” Where will its star land, at the last layer?")
    text = sample.titles[-1] if len(sample.titles[-1]) <= 60 else sample.titles[-1][:59] + "…"
    about = f"{inputs.model}/{inputs.word}/{sample.titles[-1]}"
    question = question.format(text=literal(text))
    return predict("star", question, meanings, sample.of[others[closest]], about=about)


def group_names() -> dict[str, str]:
    """Display names of the word groups in our own sets."""
    return {
        "noun": _("noun"),
        "name": pgettext("a part of speech", "name"),
        "verb": _("verb"),
        "adjective": _("adjective"),
        "pronoun": _("pronoun"),
        "determiner": _("determiner"),
        "preposition": _("preposition"),
        "number": pgettext("a part of speech", "number"),
    }


def _laid_out(inputs: Inputs, name: str, layers: "np.ndarray") -> tuple[str, list[dict]]:
    """(method, the picture of each layer): PCA until another method has been computed."""
    if inputs.method == "pca":
        return "pca", planes(name, layers)
    run_name = f"{inputs.method}-{inputs.seed}-{name}"
    run = running_or_done(run_name)
    if run is not None and run.state == "finished":
        return inputs.method, [event for event in run.events() if event["event"] == "picture"]
    title = _("{method} of {n} points at {layers} layers").format(
        method=method_names()[inputs.method], n=layers.shape[1], layers=len(layers)
    )
    if run is None:
        task = "minibert.inside.geometry.aligned_projections:pictures"
        st.button(
            _("Compute {title}").format(title=title),
            key="compute",
            type="primary",
            icon=":material/play_arrow:",
            on_click=partial(compute, run_name, task, layers, inputs.method, inputs.seed, title=title),
        )
        show_refusal()
        show_failure(run_name)
    follow((run_name,), lambda runs: None)
    st.caption(_("Until {method} is there, PCA shows the same points.").format(method=method_names()[inputs.method]))
    return "pca", planes(name, layers)


def _draw(
    inputs: Inputs, sample: VectorItems, groups: list[str], layers, method: str, drawn, layer: int, chosen, name: str
) -> None:
    names = layer_names(len(layers))
    layouts = [plane["points"] for plane in drawn]
    titles = [visible(title, spaces=False) for title in sample.titles]
    findings = [_finding(inputs, sample, one, at) for one, at in zip(layers, names, strict=True)]
    trusts = _(", ").join(f"{at} {plane['trust']:.2f}" for at, plane in zip(names, drawn, strict=True))
    alt = _(
        "{n} points in the plane by {method}, at {layers} layers; groups: {groups}. Trustworthiness by layer: {trusts}."
    ).format(
        n=len(sample), method=method_names()[method], layers=len(layers), groups=_(", ").join(groups), trusts=trusts
    )
    alt = findings[layer] + _(". ") + alt

    def table():
        return [
            {_("point"): title, _("group"): groups[group], "x": x, "y": y}
            for title, group, (x, y) in zip(titles, sample.of, layouts[layer], strict=True)
        ]

    with picture():
        if inputs.view == "all":
            from plots.embeddings import side_by_side

            with st.container(key="wide-pictures"):
                fig = side_by_side(layouts, names, groups, sample.of, titles, sample.own, findings[-1])
                figure(fig, alt, "side-by-side", data=table)
            return
        near = neighbours.of_each_layer(layers, chosen)
        marks = [visible(mark, spaces=False) for mark in sample.marks]
        moving_points(
            VIEW,
            Points(name, layouts, names, groups, sample.of, titles, marks, sample.own, findings),
            layer=layer,
            chosen=chosen,
            near=[[place for place, _cosine in row] for row in near],
            alt=alt,
            data=table,
            rise="layer" not in st.query_params,
            on_layer=partial(_heard, "layer"),
            on_point=partial(_heard, "point"),
        )


def _finding(inputs: Inputs, sample: VectorItems, layer: "np.ndarray", name: str) -> str:
    """How many of our points have a nearest neighbour of their own group, in the full vectors."""
    from minibert.inside.geometry.vectors import nearest_alike

    where = _("Layer {name}").format(name=name) if name.isdecimal() else _("Embeddings, before the first layer")
    ours = [i for i, group in enumerate(sample.of) if group != sample.own]
    groups = [sample.of[i] for i in ours]
    if len(set(groups)) < 2:
        return where
    count = int(nearest_alike(layer[ours], groups).sum())
    text = _("{where}: for {n} of {all} the nearest vector is of the same group")
    if inputs.word not in (None, EVERY):
        text = _("{where}: for {n} of {all} the nearest vector has the same meaning")
    return text.format(where=where, n=count, all=len(ours))


def _measures(layers: "np.ndarray", drawn: list[dict], layer: int) -> None:
    from minibert.inside.geometry.aligned_projections import movement

    names = layer_names(len(layers))
    moved = movement([plane["points"] for plane in drawn])
    furthest = max(range(len(moved)), key=moved.__getitem__)
    st.markdown(
        _(
            "Trustworthiness at layer {layer}: {trust:.2f} (1: who is near in the picture is near in the model). The "
            "points move furthest from {a} to {b}: {far:.2f} of the picture’s size; least: {least:.2f}."
        ).format(
            layer=names[layer],
            trust=drawn[layer]["trust"],
            a=names[furthest],
            b=names[furthest + 1],
            far=moved[furthest],
            least=min(moved),
        )
    )


# --- layer and point now ----------------------------------------------------------------------------------------------


def _where_we_are(layers: int, points: int, identity: str) -> tuple[int, int | None]:
    """The layer and the chosen point: from the link, else as before; with other points none is chosen."""
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


def _heard(what: str) -> None:
    """Handle an event of the moving picture."""
    value, state = reported_value(VIEW, what), st.session_state
    if value is not None and what == "layer":
        state["layer-now"] = value
    elif value is not None:
        _choose(value)


def _choose(point: int) -> None:
    st.session_state["point-now"] = (st.session_state["identity"], point)
