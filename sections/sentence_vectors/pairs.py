"""Why vectors: n sentences need n forward passes, or n(n − 1)/2 as pairs; counted, and timed live."""

import streamlit as st

from sections.sentence_vectors.subject import Inputs
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.source import show_source
from ui.translations import _

SENTENCES, PAIRS = 1_000, 64  # numbers that are timed
THEIRS = 10_000  # sentences, Reimers and Gurevych 2019, §1


def show(lesson: Lesson, inputs: Inputs) -> None:
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
    words = _("**{n:,} sentences: {pairs:,} pairs** to read as BERT reads two texts, or {n:,} vectors.")
    st.markdown(words.format(n=n, pairs=pairs))
    if st.button(_("Measure here"), key="measure", type="primary", icon=":material/timer:"):
        st.session_state["vectors-measured"] = True
    if st.session_state.get("vectors-measured"):
        with st.spinner(_("Reading {n:,} sentences, and {m} pairs …").format(n=SENTENCES, m=PAIRS)):
            results = measured(inputs.model, version_of(inputs.model), inputs.language)
        as_pairs = pairs * results.a_pair
        as_vectors = n * results.a_vector + pairs * results.a_cosine
        words = _("**As pairs {pairs}, as vectors {vectors}: {times:,.0f} times as long.**")
        st.markdown(words.format(pairs=duration(as_pairs), vectors=duration(as_vectors), times=as_pairs / as_vectors))
        heads = (_("what"), _("measured"), _("each"), _("all"))
        cosines = _("{n:,} cosines").format(n=speed.num_pairs(SENTENCES))
        each = f"{1e3 * results.a_pair:.2f} ms", f"{1e3 * results.a_vector:.2f} ms", f"{1e9 * results.a_cosine:.1f} ns"
        rows = (
            (_("a pair read by BERT"), _("{n} pairs").format(n=PAIRS), each[0], as_pairs),
            (_("a sentence made a vector"), _("{n:,} sentences").format(n=SENTENCES), each[1], n * results.a_vector),
            (_("a cosine"), cosines, each[2], pairs * results.a_cosine),
        )
        st.table([dict(zip(heads, (*row, duration(seconds)), strict=True)) for *row, seconds in rows])
        words = _(
            "By the clock of this server, once for everyone, with {model}; only the {m} pairs were read, “all” is "
            "multiplied. The paper says of {theirs:,} sentences: about 65 hours as pairs, about 5 seconds as "
            "vectors (Reimers and Gurevych 2019, §1, on a V100)."
        )
        st.caption(words.format(model=inputs.model, m=PAIRS, theirs=THEIRS))
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
