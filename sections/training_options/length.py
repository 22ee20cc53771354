"""Maximum length: what a data set's texts need, and how many rows of that length fit into memory."""

from functools import partial

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import MODELS, command
from ui.figures import figure
from ui.inputs import choice
from ui.lengths import lengths_of, show_lengths
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.task_data import shipped, shipped_sets
from ui.translations import _

HEADING = "Length"
LENGTHS = (16, 32, 64, 96, 128, 192, 256, 320, 384, 512)
GIB = (4, 8, 12, 16, 24, 40, 80)
# "Out-of-memory issues" in the README of google-research/bert: a Titan X of 12 GB, TensorFlow 1.11, Adam.
PUBLISHED = {
    "base": {64: 64, 128: 32, 256: 16, 320: 14, 384: 12, 512: 6},
    "large": {64: 12, 128: 6, 256: 2, 320: 1, 384: 0, 512: 0},
}
MEASURED_WITH = 12  # GiB


def show(lesson: Lesson, text: str) -> None:
    """The share of a data set's texts within a length, beside the largest batch; independent of the text."""
    sets = shipped_sets()
    first, second, third, fourth = st.columns((5, 5, 5, 4), gap="medium")
    with first:
        name = st.selectbox(
            _("Data"),
            list(sets),
            index=list(sets).index("verdicts"),
            format_func=lambda one: sets[one].title,
            key="length-of",
        )
    with second:
        chosen = st.select_slider(_("Tokens at most"), LENGTHS, 96, key="tokens")
    with third:
        size = choice("model-size", _("BERT"), {"base": _("base"), "large": _("large")})
    with fourth:
        memory = st.select_slider(_("Memory, GiB"), GIB, 12, key="memory")
    lengths = lengths_of(shipped(name), MODELS[sets[name].language])
    with picture():
        left, right = st.columns(2, gap="medium")
        with left:
            show_lengths(lengths, chosen, key="share-within")
        with right:
            _batches(size, chosen, memory)
    measured.show(
        {"whole": _("the whole text"), "head-32": _("its first 32 tokens")}, "truncation", "minilm-en", "whole"
    )
    lesson.show(HEADING)
    command(f"--max-length {chosen}", "--group-by-length")
    from minibert.count import largest_batch
    from minibert.tasks.lengths import length_for

    show_source(length_for, label=_("The length for a share"))
    show_source(largest_batch, label=_("The largest batch"))


def _batches(size: str, chosen: int, memory: int) -> None:
    """The largest batch for each length, with attention computed explicitly and fused."""
    from plots.training_options import rows_that_fit

    kinds = {_("fused attention"): "fused", _("attention written out"): "explicit"}
    series = {name: [batch_of(size, length, memory, kind) for length in LENGTHS] for name, kind in kinds.items()}
    there = PUBLISHED[size] if memory == MEASURED_WITH else {}
    published = {_("measured in 2018, TensorFlow"): there} if there else {}
    at = {name: batches[LENGTHS.index(chosen)] for name, batches in series.items()}
    finding = _("{chosen} tokens: at most {rows:,} rows at once").format(chosen=chosen, rows=at[_("fused attention")])
    words = _("; ").join(f"{name}{_(': ')}{rows:,}" for name, rows in at.items())
    alt = _(
        "The largest batch to fine-tune {model} in {memory} GiB, fp32 and AdamW, by length. At {chosen} tokens: "
        "{words}."
    ).format(model=f"BERT-{size}", memory=memory, chosen=chosen, words=words)
    axes = (_("tokens of a row"), _("rows at once"))

    def table() -> list[dict]:
        return [
            {
                _("tokens"): length,
                **{name: batches[i] for name, batches in series.items()},
                **({_("measured in 2018"): str(there.get(length, "–"))} if there else {}),
            }
            for i, length in enumerate(LENGTHS)
        ]

    figure(
        partial(rows_that_fit, LENGTHS, series, published, chosen, axes, finding), alt, key="rows-that-fit", data=table
    )


@st.cache_data(show_spinner=False, max_entries=1_000)
def batch_of(size: str, tokens: int, memory: int, attention: str) -> int:
    """The largest batch for fine-tuning, without masked tokens."""
    from minibert.config import BertConfig
    from minibert.count import largest_batch

    return largest_batch(BertConfig.preset(size), tokens, memory * 2**30, masked=0.0, attention=attention)
