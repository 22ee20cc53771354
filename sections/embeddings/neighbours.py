"""Nearest neighbours of a chosen point by cosine: other points, and tokens of the vocabulary."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from sections.embeddings.subject import layer_names
from ui.model_cache import load
from ui.samples import VectorItems
from ui.text import literal, show_tokens, visible
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np

NEIGHBOURS = 5
VOCABULARY = 10  # nearest tokens shown


def of_each_layer(layers: "np.ndarray", chosen: int | None) -> list[list[tuple[int, float]]]:
    """Per layer, (point, cosine) of the nearest other points."""
    from minibert.inside.geometry.vectors import nearest

    if chosen is None:
        return [[] for _layer in layers]
    return [nearest(layer, layer[chosen], NEIGHBOURS, leave_out=chosen) for layer in layers]


def pick(sample: VectorItems, chosen: int | None, choose: Callable[[int], None]) -> None:
    """Choose a point by its number, for users who cannot click it."""
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
        choose(picked)
        st.rerun(scope="fragment")


def show(model: str, sample: VectorItems, groups: list[str], layers: "np.ndarray", layer: int, chosen: int) -> None:
    """The nearest points and the nearest vocabulary tokens of the chosen point at this layer."""
    from minibert.inside.geometry.vectors import nearest_tokens

    titles = [visible(title, spaces=False) for title in sample.titles]
    left, right = st.columns([3, 2], gap="large")
    near = of_each_layer(layers, chosen)[layer]
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
