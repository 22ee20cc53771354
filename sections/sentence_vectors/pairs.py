"""Why vectors: n sentences need n forward passes, or n(n − 1)/2 as pairs; counted, and timed live."""

import streamlit as st

from sections.sentence_vectors.subject import Subject
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.source import show_source
from ui.translations import _

SENTENCES, PAIRS = 1_000, 64  # numbers that are timed
THEIRS = 10_000  # sentences, Reimers and Gurevych 2019, §1


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.sentence_vectors import speed

    lesson.show("Pairs or vectors", title=False)
    n = st.select_slider(
        _("Sentences"),
        (100, 1_000, 10_000, 100_000, 1_000_000),
        value=THEIRS,
        format_func="{:,}".format,
        key="n",
        bind="query-params",
    )
    pairs = speed.num_pairs(n)
    st.markdown(
        _("**{n:,} sentences: {pairs:,} pairs** to read as BERT reads two texts, or {n:,} vectors.").format(
            n=n, pairs=pairs
        )
    )
    if st.button(_("Measure here"), key="measure", type="primary", icon=":material/timer:"):
        st.session_state["vectors-measured"] = True
    if st.session_state.get("vectors-measured"):
        with st.spinner(_("Reading {n:,} sentences, and {m} pairs …").format(n=SENTENCES, m=PAIRS)):
            found = measured(seen.model, version_of(seen.model), seen.language)
        as_pairs = pairs * found.a_pair
        as_vectors = n * found.a_vector + pairs * found.a_cosine
        st.markdown(
            _("**As pairs {pairs}, as vectors {vectors}: {times:,.0f} times as long.**").format(
                pairs=duration(as_pairs), vectors=duration(as_vectors), times=as_pairs / as_vectors
            )
        )
        st.table(
            [
                {
                    _("what"): _("a pair read by BERT"),
                    _("measured"): _("{n} pairs").format(n=PAIRS),
                    _("each"): f"{1e3 * found.a_pair:.2f} ms",
                    _("all"): duration(as_pairs),
                },
                {
                    _("what"): _("a sentence made a vector"),
                    _("measured"): _("{n:,} sentences").format(n=SENTENCES),
                    _("each"): f"{1e3 * found.a_vector:.2f} ms",
                    _("all"): duration(n * found.a_vector),
                },
                {
                    _("what"): _("a cosine"),
                    _("measured"): _("{n:,} cosines").format(n=speed.num_pairs(SENTENCES)),
                    _("each"): f"{1e9 * found.a_cosine:.1f} ns",
                    _("all"): duration(pairs * found.a_cosine),
                },
            ]
        )
        st.caption(
            _(
                "By the clock of this server, once for everyone, with {model}; only the {m} pairs were read, “all” is "
                "multiplied. The paper says of {theirs:,} sentences: about 65 hours as pairs, about 5 seconds as "
                "vectors (Reimers and Gurevych 2019, §1, on a V100)."
            ).format(model=seen.model, m=PAIRS, theirs=THEIRS)
        )
    lesson.show("What is lost")
    show_source(speed.measure)


def duration(seconds: float) -> str:
    """The duration in a readable unit."""
    if seconds < 1:
        return _("{n:.3g} s").format(n=seconds)
    for limit, unit, words in (
        (120, 1, _("{n:.0f} s")),
        (7_200, 60, _("{n:.0f} min")),
        (172_800, 3_600, _("{n:.0f} h")),
    ):
        if seconds < limit:
            return words.format(n=seconds / unit)
    return _("{n:,.0f} days").format(n=seconds / 86_400)


@st.cache_data(show_spinner=False, max_entries=12)
def measured(model: str, version: int, language: str):
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.sentence_vectors.speed import measure
    from ui.samples import similar_pairs

    loaded = load(model)
    texts = [text for *pair, _score in similar_pairs(language) for text in pair]
    some = (texts * (1 + SENTENCES // len(texts)))[:SENTENCES]
    return measure(encoder_of(loaded.model), loaded.tokenizer, some, PAIRS)
