"""The best head of one relation in a sentence: what the tested word attends to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from sections.attention_explorer import views
from sections.attention_explorer.subject import inside
from ui import samples
from ui.inputs import pick
from ui.inspected_model import InspectedModel, head_name
from ui.text import literal, shorten
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.accuracy import HeadQuestions, RelationAccuracy

CASES = 8  # sentences to choose from
WIDTH = 70  # characters of a sentence in the list
SHARE = 0.9  # share of each word's attention that is drawn


def settled_names() -> dict[str, str]:
    return {"form": _("by its form"), "grammar": _("by grammar"), "meaning": _("by meaning only")}


def show(subject: InspectedModel, found: RelationAccuracy, asked: HeadQuestions) -> None:
    """The sentences to choose from, and the attention of the tested word of the chosen one. asked: the test set."""
    import torch

    from minibert.inside.geometry.vectors import joined
    from minibert.inside.heads.accuracy import tokens_of_words
    from minibert.inside.heads.attention_summary import strongest_edges
    from minibert.inside.model_input import ModelInput
    from plots.attention_payloads import lines_payload

    layer, head = found.best
    cases = examples(found, asked)
    options = [
        ("✓ " if found.right[case, layer, head] else "✗ ")
        + shorten(" ".join(asked.texts[found.questions[case].text]), WIDTH)
        for case in cases
    ]
    at = pick(f"case-{found.relation}", _("Sentence (✓ found, ✗ missed)"), options)
    question = found.questions[cases[at]]
    words = asked.texts[question.text]
    text = joined(words)[0]
    reading = ModelInput.of(subject.tokenizer, text, None, subject.model.config.longest)
    encoding = subject.tokenizer.encode(text, max_length=subject.model.config.longest)
    places = tokens_of_words(encoding, words)
    row = places[question.looking][0]
    targets = _(" or ").join(literal(words[place]) for place in sorted(question.wanted))
    among = _(", ").join(literal(words[place]) for place in question.among or ())
    st.markdown(
        _("**{head}**: where does *{word}* look? Correct: *{wanted}*").format(
            head=head_name(layer, head), word=literal(words[question.looking]), wanted=targets
        )
        + (" " + _("(of {candidates})").format(candidates=among) if among else "")
    )
    special = torch.tensor(encoding.special)
    edges = strongest_edges(inside(subject, reading)["probs"][layer, [head]], SHARE, ~special)
    payload = lines_payload(reading.tokens, edges, [head], faint=special.tolist(), row=row)
    views.show("lines", payload, "explorer-relation-lines", lambda _click: None, file="attention-relation")
    if found.relation == "coref":
        by_kind(found)


def examples(found: RelationAccuracy, asked: HeadQuestions) -> list[int]:
    """A few questions, short texts first: mostly ones the best head answers correctly, and some it misses."""
    layer, head = found.best
    order = sorted(range(len(found.questions)), key=lambda i: len(asked.texts[found.questions[i].text]))
    long_enough = [i for i in order if len(asked.texts[found.questions[i].text]) >= 7] or order
    right = [i for i in long_enough if found.right[i, layer, head]]
    wrong = [i for i in long_enough if not found.right[i, layer, head]]
    few = min(len(wrong), max(CASES // 4, CASES - len(right)))
    return right[: CASES - few] + wrong[:few]


def by_kind(found: RelationAccuracy) -> None:
    """For the pronouns: how often the best head is right, by what settles the antecedent."""
    layer, head = found.best
    kinds = [samples.pronouns()[question.text].settled_by for question in found.questions]
    right = found.right[:, layer, head].tolist()
    said = []
    for kind, words in settled_names().items():
        some = [hit for hit, of in zip(right, kinds, strict=True) if of == kind]
        if some:
            said.append(f"{words} {sum(some) / len(some):.0%} ({sum(some)}/{len(some)})")
    st.caption(_("Where the antecedent is settled: {said}.").format(said=" · ".join(said)))
