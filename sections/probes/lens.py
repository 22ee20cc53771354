"""The logit lens: what the model would answer if it stopped at each layer."""

import csv

import numpy as np
import streamlit as st

from sections.probes.subject import Subject, layer_names
from ui.figures import figure
from ui.lesson import LESSONS, Lesson
from ui.models import can_fill, load, version_of
from ui.page import picture
from ui.text import literal, visible
from ui.translations import _

GUESSES = 5



@st.cache_data(show_spinner=False, max_entries=16)
def set_ranks(model: str, version: int) -> list[list[int]]:
    """Of our cloze sentences the rank of the right word at every layer."""
    from minibert.inside.logit_lens import ranks_over_layers

    with (LESSONS / "data" / "cloze.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    loaded = load(model)
    return ranks_over_layers(loaded.model, loaded.tokenizer, [(row["sentence"], row["answer"]) for row in rows])


@st.fragment
def lens(model: str) -> None:
    lesson.show("The logit lens")
    if not can_fill(model):
        st.info(_("This model fills no blanks: choose one that was pre-trained to."), icon=":material/info:")
        return
    left, right = st.columns([3, 1], gap="medium", vertical_alignment="top")
    with left:
        text = sentence_input("cloze", list(answers()), label=_("Sentence with a [MASK]"), max_chars=MAX_CHARS)
    with right:
        word = right_word(text)
    from minibert.inside.logit_lens import blank_of, layer_answers, only_token

    loaded = load(model)
    blank = blank_of(loaded.tokenizer, text, loaded.config.max_position_embeddings)
    if blank is None:
        st.info(_("Write `[MASK]` where the blank should be."), icon=":material/edit:")
        return
    wanted = only_token(loaded.tokenizer, word)
    if wanted is None and word.strip():
        st.caption(_("“{word}” is not one token of this vocabulary, so it has no rank.").format(word=literal(word)))
    found = layer_answers(loaded.model, loaded.tokenizer, *blank, wanted, GUESSES)
    draw_lens(model, found, None if wanted is None else loaded.tokenizer.vocab[wanted])


def draw_lens(model: str, found: list, wanted: str | None) -> None:
    from plots.over_layers import Line, layer_words, ranks

    names = layer_names(len(found))
    rows = [[(visible(token), p) for token, p in answer.guesses] for answer in found]
    told = ". ".join(
        f"{name}: " + ", ".join(f"{token} {p:.0%}" for token, p in row) for name, row in zip(names, rows, strict=True)
    )
    with st.container(key="wide-lens"):
        figure(
            layer_words(rows, names, None if wanted is None else visible(wanted), (_("layer"), _("place"))),
            _("What each layer would answer. {told}.").format(told=told),
            "lens-words",
            data=lambda: [
                {_("layer"): name, _("place"): place, _("token"): token, _("probability"): p}
                for name, row in zip(names, rows, strict=True)
                for place, (token, p) in enumerate(row, 1)
            ],
        )
    if wanted is None:
        return
    lines = [Line(_("rank of {word}").format(word=visible(wanted)), [answer.rank for answer in found])]
    many = set_ranks(model, version_of(model))
    if many:
        median = np.median(many, axis=0).tolist()
        lines.append(Line(_("median of {n} other sentences").format(n=len(many)), median, "baseline"))
    first = next((name for name, answer in zip(names, found, strict=True) if answer.rank == 1), None)
    end = found[-1]
    summary = _("At the last layer **{word}** has rank {rank:,} with {p:.1%}").format(
        word=literal(wanted), rank=end.rank, p=end.probability
    )
    if first is not None:
        summary += _("; it first comes first at layer {layer}").format(layer=first)
    figure(
        ranks(lines, names, _("layer"), _("Rank of the right word (1 is best)"), load(model).config.vocab_size),
        _("Rank of the right word by layer: {ranks}.").format(
            ranks=", ".join(f"{name} {answer.rank:,}" for name, answer in zip(names, found, strict=True))
        ),
        "lens-ranks",
        data=lambda: [
            {_("layer"): name, _("rank"): answer.rank, _("probability"): answer.probability}
            for name, answer in zip(names, found, strict=True)
        ],
    )
    st.markdown(summary + ".")
