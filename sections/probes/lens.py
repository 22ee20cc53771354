"""The logit lens: what the model would answer if it stopped at each layer."""

import csv
from functools import partial

import numpy as np
import streamlit as st

from sections.probes.subject import Inputs, layer_names
from ui.figures import figure
from ui.lesson import LESSONS, Lesson
from ui.model_cache import language_read, load, version_of
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

    name = "cloze-zh.tsv" if language_read(model) == "zh" else "cloze.tsv"
    with (LESSONS / "data" / name).open(encoding="utf-8", newline="") as file:
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
    target = only_token(loaded.tokenizer, inputs.word)
    if target is None and inputs.word.strip():
        st.caption(
            _("“{word}” is not one token of this vocabulary, so it has no rank.").format(word=literal(inputs.word))
        )
    results = layer_answers(loaded.model, loaded.tokenizer, *blank, target, GUESSES)
    revealed = _words(
        results, None if target is None else loaded.tokenizer.vocab[target], f"{inputs.model} {inputs.text}"
    )
    lesson.show("The logit lens", title=False)
    if target is not None and revealed:
        _ranks(inputs.model, results, loaded.tokenizer.vocab[target])


def _words(results: list, target: str | None, about: str) -> bool:
    """The picture: only the last layer until the user has predicted at which layer the right word is first. Returns
    whether all layers are shown."""
    with picture():
        names = layer_names(len(results))
        revealed = target is None or _guessed(results, visible(target), names, about)
        if revealed:
            _draw(results, target, names, _finding(results, target, names))
        else:
            _draw(results[-1:], target, names, _finding(results, None, names))
    return revealed


def _guessed(results: list, target: str, names: list[str], about: str) -> bool:
    """Ask at which layer the right word is first; True if that may be shown."""
    right = next((place for place, answer in enumerate(results) if answer.rank == 1), len(names))
    question = _("From which layer on is “{word}” first?").format(word=literal(target))
    if len(names) <= MOST_NAMED:
        return predict("lens", question, [*names, _("none")], right, about=f"{about} {target}")
    thirds = [_("in the first third"), _("in the second"), _("in the last"), _("at none")]
    return predict("lens", question, thirds, min(3 * right // len(names), 3), about=f"{about} {target}")


def _draw(results: list, target: str | None, names: list[str], finding: str) -> None:
    """found: the answers of the last layers; earlier layers show question marks."""
    from plots.over_layers import layer_words

    rows = [[(visible(token), p) for token, p in answer.guesses] for answer in results]
    listed = _(". ").join(
        f"{name}{_(': ')}" + _(", ").join(f"{token} {p:.0%}" for token, p in row)
        for name, row in zip(names[-len(results) :], rows, strict=True)
    )
    unsaid = [[("?", None)] * GUESSES] * (len(names) - len(results))
    figure(
        partial(
            layer_words,
            [*unsaid, *rows],
            names,
            None if target is None else visible(target),
            (_("layer"), _("place")),
            finding,
        ),
        _("What each layer would answer. {finding}. {listed}.").format(finding=finding, listed=listed),
        "lens-words",
        data=lambda: [
            {_("layer"): name, _("place"): place, _("token"): token, _("probability"): p}
            for name, row in zip(names[-len(results) :], rows, strict=True)
            for place, (token, p) in enumerate(row, 1)
        ],
        wide=True,
    )


def _finding(results: list, target: str | None, names: list[str]) -> str:
    token, p = results[-1].guesses[0]
    if target is None:
        return _("The last layer says “{token}” ({p:.0%})").format(token=visible(token), p=p)
    ranks = [answer.rank for answer in results]
    if 1 not in ranks:
        phrase = _("“{word}” is the first guess at no layer; it ends at rank {rank:,}")
        return phrase.format(word=visible(target), rank=ranks[-1])
    first = ranks.index(1)
    if set(ranks[first:]) == {1}:
        phrase = _("“{word}” is the first guess from layer {layer} of {last} on")
    elif ranks[-1] == 1:  # a layer between prefers another word
        phrase = _("“{word}” is the first guess at layer {layer} of {last} already, and again in the end")
    else:
        phrase = _("“{word}” is the first guess at layer {layer} of {last} already, but ends at rank {rank:,}")
    return phrase.format(word=visible(target), layer=names[first], last=names[-1], rank=ranks[-1])


def _ranks(model: str, results: list, target: str) -> None:
    from plots.over_layers import Line, ranks

    names = layer_names(len(results))
    lines = [Line(_("rank of {word}").format(word=visible(target)), [answer.rank for answer in results])]
    many = set_ranks(model, version_of(model))
    if many:
        median = np.median(many, axis=0).tolist()
        lines.append(Line(_("median of {n} other sentences").format(n=len(many)), median, "baseline"))
    end = results[-1]
    summary = _("At the last layer **{word}** has rank {rank:,} with {p:.1%}").format(
        word=literal(target), rank=end.rank, p=end.probability
    )
    figure(
        partial(
            ranks, lines, names, _("layer"), _("Rank of the right word (1 is best)"), load(model).config.vocab_size
        ),
        _("Rank of the right word by layer: {ranks}.").format(
            ranks=_(", ").join(f"{name} {answer.rank:,}" for name, answer in zip(names, results, strict=True))
        ),
        "lens-ranks",
        data=lambda: [
            {_("layer"): name, _("rank"): answer.rank, _("probability"): answer.probability}
            for name, answer in zip(names, results, strict=True)
        ],
    )
    st.markdown(summary + _("."))
