"""Metadata columns as tokens or as vectors."""

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import LABELS, bench_of, columns, command, example_of, values_of
from ui.inputs import choice
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _

HEADING = "Other columns"


def show(lesson: Lesson, text: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        column = st.selectbox(_("Column"), columns(), key="column")
        values = values_of(column)
        value = st.selectbox(_("Value"), [*values, _("one that training has not seen")], key="value")
    with right:
        ways = {
            "token": _("a token in front"),
            "embedding": _("an embedding, added"),
            "concatenated": _("an embedding beside"),
        }
        way = choice("way", _("Read as"), ways, wrap=True)
    bench = bench_of(metadata=(column,), metadata_as=way)
    known = value if value in values else "?"
    batch = bench.batch(example_of(text, LABELS[0], **{column: known}))
    tokens = [bench.tokenizer.vocab[i] for i in batch.ids[0].tolist()]
    with picture():
        show_tokens(tokens, under=batch.ids[0].tolist(), limit=60, label=_("Tokens"))
        _what_is_new(way, bench, batch, len(values))
    ways = {"token": _("topic: a token in front"), "embedding": _("topic: an embedding, added")}
    measured.show({**ways, "concatenated": _("topic: an embedding beside")})
    lesson.show(HEADING)
    command(f"--metadata {column}", f"--metadata-as {way}")
    from minibert.heads import MetadataEmbeddings
    from minibert.tasks.metadata import metadata_prefix

    if way == "token":
        show_source(metadata_prefix, label=_("As tokens"))
    else:
        show_source(MetadataEmbeddings.forward, find="vector", label=_("As embeddings"))


def _what_is_new(way: str, bench, batch, known: int) -> None:
    """The new weights of this option. known: number of values in the training data."""
    head = bench.learner.model
    if way == "token":
        words = _(
            "The vocabulary has grown by {n} tokens, to {size:,}; each new one brings {width} numbers to the "
            "embedding matrix, random at first."
        )
        values = {"n": known, "size": bench.tokenizer.vocab_size, "width": head.config.hidden_size}
    elif way == "concatenated":
        words = _(
            "The tokens are the same for every value. This value is number **{number}** of a table of {rows} "
            "vectors of {short} numbers; that vector stands beside the {width} numbers that the new layer reads "
            "of the text, so it reads **{both}**. Number 0 is for values that training has not seen."
        )
        table = head.metadata[0]
        values = {"rows": table.num_embeddings, "short": table.embedding_dim, "both": head.read_width}
    else:
        words = _(
            "The tokens are the same for every value. This value is number **{number}** of a table of {rows} "
            "vectors of {width} numbers; that vector is added to what the new layer reads. Number 0 is for values "
            "that training has not seen."
        )
        values = {"rows": head.metadata[0].num_embeddings}
    if way != "token":
        values |= {"number": int(batch.metadata[0, 0]), "width": head.width}
    st.markdown(words.format(**values), width=820)
