"""Whitening: correlation with human scores by number of columns kept, and the time of a search."""

from functools import partial

import streamlit as st

from sections.cone.cloud import KEPT
from sections.cone.subject import Inputs, fitted, layer_names, vectors
from ui.figures import figure
from ui.lesson import Lesson
from ui.predict import predict
from ui.samples import questions, similar_pairs, sts_b
from ui.source import show_source
from ui.translations import _

SEARCHED = 50_000  # vectors in the timed search


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.geometry.vectors import cosines, nearest_alike
    from minibert.sentence_vectors.whitening import Whitening
    from minibert.training.statistics import rank_correlation
    from plots.cone import over_dimensions

    lesson.show("Whitening", title=False)
    sets = {_("The course’s own pairs"): similar_pairs(inputs.language)}
    if inputs.language == "en" and (pairs := sts_b()):
        sets[_("STS-B, dev")] = pairs
    whole = fitted(inputs)
    offered = [*(k for k in KEPT if k < whole.dimensions), whole.dimensions]
    lines: dict[str, list[float]] = {}
    plain: dict[str, float] = {}
    for name, pairs in sets.items():
        left, right, scores = zip(*pairs, strict=True)
        with st.spinner(_("Reading {n:,} sentences …").format(n=2 * len(pairs))):
            u, v = (vectors(inputs.model, inputs.layers, side) for side in (left, right))
        plain[name] = rank_correlation(cosines(u, v), scores)
        lines[name] = [rank_correlation(cosines(whole.first(k)(u), whole.first(k)(v)), scores) for k in offered]
    own = next(iter(sets))
    best = max(range(len(offered)), key=lambda i: lines[own][i])
    options = [*(_("{k} numbers").format(k=k) for k in offered), _("not whitened at all")]
    right = len(offered) if plain[own] >= lines[own][best] else best
    if not predict(
        "cone-k",
        _("With what do cosines agree best with people, on {n} pairs?").format(n=len(sets[own])),
        options,
        right,
        about=f"{inputs.model} {inputs.layers}",
    ):
        return
    summary = _("{set}: {plain:.2f} as they are, at best {best:.2f} whitened, with {k} numbers").format(
        set=own, plain=plain[own], best=lines[own][best], k=offered[best]
    )
    figure(
        partial(
            over_dimensions,
            lines,
            plain,
            offered,
            summary,
            (_("numbers kept"), _("Spearman’s correlation")),
            _("as they are"),
        ),
        _("Agreement with people’s scores by the numbers that whitening keeps. {summary}.").format(summary=summary),
        "dimensions",
        data=[
            {_("numbers"): k, **{name: round(values[i], 3) for name, values in lines.items()}}
            for i, k in enumerate(offered)
        ],
    )
    st.caption(
        _("Vectors: {layers}. Nothing here is fitted on the pairs or their scores.").format(
            layers=layer_names()[inputs.layers]
        )
    )
    desk = questions(inputs.language)
    table = vectors(inputs.model, inputs.layers, tuple(question for question, _standard in desk))
    labels = [standard for _question, standard in desk]
    counts = {k: int(nearest_alike(whole.first(k)(table), labels).sum()) for k in offered}
    few = offered[max(0, len(offered) - 3)]
    st.markdown(
        _(
            "Of the desk’s {n} questions **{plain}** find one of their own as they are, **{all}** whitened, and "
            "**{few}** with {k} numbers."
        ).format(
            n=len(desk), plain=int(nearest_alike(table, labels).sum()), all=counts[offered[-1]], few=counts[few], k=few
        )
    )
    lesson.show("Shorter is faster")
    if st.button(_("Time a search here"), key="time", type="primary", icon=":material/timer:"):
        st.session_state["cone-timed"] = True
    if st.session_state.get("cone-timed"):
        with st.spinner(_("Searching …")):
            rows = timed((whole.matrix.shape[0], *offered[-2:-4:-1]))
        st.table(
            [
                {
                    _("numbers a vector"): f"{width}",
                    _("a search"): f"{1e3 * seconds:.1f} ms",
                    _("memory"): f"{4 * width * SEARCHED / 2**20:.0f} MiB",
                }
                for width, seconds in rows
            ]
        )
        st.caption(
            _("One question among {n:,} random vectors, the median of seven, by the clock of this server.").format(
                n=SEARCHED
            )
        )
    lesson.show("How many sentences")
    show_source(Whitening.fit)


@st.cache_data(show_spinner=False, max_entries=8)
def timed(widths: tuple[int, ...]) -> list[tuple[int, float]]:
    from minibert.sentence_vectors.speed import search_seconds

    return [(width, search_seconds(SEARCHED, width)) for width in widths]
