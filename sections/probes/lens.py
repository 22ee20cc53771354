"""The logit lens: what the model would answer if it stopped at each layer."""

import csv
from functools import partial

import numpy as np
import streamlit as st

from sections.probes.subject import Inputs, layer_names
from ui.figures import figure
from ui.lesson import LESSONS, Lesson
from ui.model_cache import load, version_of
from ui.model_registry import can_fill
from ui.page import picture
from ui.predict import predict
from ui.text import literal, visible
from ui.translations import _

GUESSES = 5
MOST_NAMED = 7  # most layers, with the embeddings, that each get an option


@st.cache_data(show_spinner=False, max_entries=16)
def set_ranks(model: str, version: int) -> list[list[int]]:
    """For each of our cloze sentences, the rank of the right word at every layer."""
    from minibert.inside.probes.logit_lens import ranks_over_layers

    with (LESSONS / "data" / "cloze.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    loaded = load(model)
    return ranks_over_layers(loaded.model, loaded.tokenizer, [(row["sentence"], row["answer"]) for row in rows])


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.probes.logit_lens import blank_of, layer_answers, only_token

    if not can_fill(inputs.model):
        st.info(_("This model fills no blanks: choose one that was pre-trained to."), icon=":material/info:")
        return
    loaded = load(inputs.model)
    blank = blank_of(loaded.tokenizer, inputs.text, loaded.config.longest)
    if blank is None:
        st.info(_("Write `[MASK]` where the blank should be."), icon=":material/edit:")
        return
    wanted = only_token(loaded.tokenizer, inputs.word)
    if wanted is None and inputs.word.strip():
        st.caption(
            _("“{word}” is not one token of this vocabulary, so it has no rank.").format(word=literal(inputs.word))
        )
    found = layer_answers(loaded.model, loaded.tokenizer, *blank, wanted, GUESSES)
    told = _words(found, None if wanted is None else loaded.tokenizer.vocab[wanted], f"{inputs.model} {inputs.text}")
    lesson.show("The logit lens", title=False)
    if wanted is not None and told:
        _ranks(inputs.model, found, loaded.tokenizer.vocab[wanted])


def _words(found: list, wanted: str | None, about: str) -> bool:
    """The picture: only the last layer until the user has predicted at which layer the right word is first. Returns
    whether all layers are shown."""
    with picture():
        names = layer_names(len(found))
        told = wanted is None or _guessed(found, visible(wanted), names, about)
        if told:
            _draw(found, wanted, names, _finding(found, wanted, names))
        else:
            _draw(found[-1:], wanted, names, _finding(found, None, names))
    return told


def _guessed(found: list, wanted: str, names: list[str], about: str) -> bool:
    """Ask at which layer the right word is first; True if that may be shown."""
    right = next((place for place, answer in enumerate(found) if answer.rank == 1), len(names))
    question = _("From which layer on is “{word}” first?").format(word=literal(wanted))
    if len(names) <= MOST_NAMED:
        return predict("lens", question, [*names, _("none")], right, about=f"{about} {wanted}")
    thirds = [_("in the first third"), _("in the second"), _("in the last"), _("at none")]
    return predict("lens", question, thirds, min(3 * right // len(names), 3), about=f"{about} {wanted}")


def _draw(found: list, wanted: str | None, names: list[str], finding: str) -> None:
    """found: the answers of the last layers; earlier layers show question marks."""
    from plots.over_layers import layer_words

    rows = [[(visible(token), p) for token, p in answer.guesses] for answer in found]
    listed = ". ".join(
        f"{name}: " + ", ".join(f"{token} {p:.0%}" for token, p in row)
        for name, row in zip(names[-len(found) :], rows, strict=True)
    )
    unsaid = [[("?", None)] * GUESSES] * (len(names) - len(found))
    with st.container(key="wide-lens"):
        figure(
            partial(
                layer_words,
                [*unsaid, *rows],
                names,
                None if wanted is None else visible(wanted),
                (_("layer"), _("place")),
                finding,
            ),
            _("What each layer would answer. {finding}. {listed}.").format(finding=finding, listed=listed),
            "lens-words",
            data=lambda: [
                {_("layer"): name, _("place"): place, _("token"): token, _("probability"): p}
                for name, row in zip(names[-len(found) :], rows, strict=True)
                for place, (token, p) in enumerate(row, 1)
            ],
        )


def _finding(found: list, wanted: str | None, names: list[str]) -> str:
    token, p = found[-1].guesses[0]
    if wanted is None:
        return _("The last layer says “{token}” ({p:.0%})").format(token=visible(token), p=p)
    first = next((name for name, answer in zip(names, found, strict=True) if answer.rank == 1), None)
    if first is None:
        said = _("“{word}” comes first at no layer; it ends at rank {rank:,}")
        return said.format(word=visible(wanted), rank=found[-1].rank)
    said = _("“{word}” first comes first at layer {layer} of {last}")
    if found[-1].rank > 1:
        said = _("“{word}” first comes first at layer {layer} of {last}, and ends at rank {rank:,}")
    return said.format(word=visible(wanted), layer=first, last=names[-1], rank=found[-1].rank)


def _ranks(model: str, found: list, wanted: str) -> None:
    from plots.over_layers import Line, ranks

    names = layer_names(len(found))
    lines = [Line(_("rank of {word}").format(word=visible(wanted)), [answer.rank for answer in found])]
    many = set_ranks(model, version_of(model))
    if many:
        median = np.median(many, axis=0).tolist()
        lines.append(Line(_("median of {n} other sentences").format(n=len(many)), median, "baseline"))
    end = found[-1]
    summary = _("At the last layer **{word}** has rank {rank:,} with {p:.1%}").format(
        word=literal(wanted), rank=end.rank, p=end.probability
    )
    figure(
        partial(
            ranks, lines, names, _("layer"), _("Rank of the right word (1 is best)"), load(model).config.vocab_size
        ),
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
