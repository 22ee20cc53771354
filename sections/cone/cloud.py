"""The central picture: the same sentences before and after whitening, in the plane of the user's two."""

from functools import partial

import streamlit as st

from sections.cone.subject import Inputs, fitted, layer_names, to_fit, vectors
from ui.figures import figure
from ui.page import picture
from ui.text import visible
from ui.translations import _

KEPT = (8, 16, 32, 64, 128, 192)  # numbers of columns to keep, besides all


@st.fragment
def show(inputs: Inputs) -> None:
    from minibert.inside.geometry.vectors import cosines, mean_cosine
    from minibert.sentence_vectors.anisotropy import plane
    from plots.cone import Cloud, clouds

    with picture():
        if not inputs.complete:
            st.info(_("Type two sentences."), icon=":material/edit:")
            return
        with st.spinner(_("Reading {n:,} sentences …").format(n=len(to_fit(inputs.language)) + len(inputs.lines))):
            whole = fitted(inputs)
            table = vectors(inputs.model, inputs.layers, inputs.lines)
            pair = vectors(inputs.model, inputs.layers, inputs.pair)
        offered = [*(k for k in KEPT if k < whole.dimensions), whole.dimensions]
        if st.session_state.get("k") not in offered:  # another model has fewer
            st.session_state.pop("k", None)
        slot = st.container()
        k = st.select_slider(
            _("Numbers that whitening keeps, of {n}").format(n=table.shape[1]),
            offered,
            value=whole.dimensions,
            key="k",
            width=420,
        )
        whitening = whole.first(k)
        panels, cosine_pairs = [], []
        for name, some, two in (
            (_("As they are"), table, pair),
            (_("Whitened, {k} numbers").format(k=k), whitening(table), whitening(pair)),
        ):
            mean, own = mean_cosine(some), float(cosines(*two))
            panels.append(Cloud(name, plane(some, *two), mean, own))
            cosine_pairs.append((mean, own))
        (mean, own), (after, own_after) = cosine_pairs
        title = _(
            "Vectors from {layers}: two at random have cosine {mean:.2f}, whitened {after:.2f}; yours {own:.2f}, "
            "whitened {mine:.2f}"
        )
        title = title.format(layers=layer_names()[inputs.layers], mean=mean, after=after, own=own, mine=own_after)
        lines = [visible(line, spaces=False) for line in (*inputs.lines, *inputs.pair)]
        with slot:
            figure(
                partial(clouds, panels, lines, title, (_("mean of all pairs"), _("yours"))),
                _("{n} sentences as points in a circle, before and after whitening. {title}.").format(
                    n=len(inputs.lines), title=title
                ),
                "clouds",
                data=[
                    {
                        _("sentence"): line,
                        **{
                            f"{panel.title} {axis}": round(float(value), 3)
                            for panel in panels
                            for axis, value in zip("xy", panel.points[i], strict=True)
                        },
                    }
                    for i, line in enumerate((*inputs.lines, *inputs.pair))
                ],
            )
    st.caption(
        _(
            "Every vector at length 1, seen in the plane through the origin and your two: their angle is the true one. "
            "A grey point near the edge points into this plane, one near the middle elsewhere. Whitening was fitted on "
            "{n:,} other sentences of this course."
        ).format(n=len(to_fit(inputs.language)))
    )
