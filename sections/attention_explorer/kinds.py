"""Kinds of heads: by the positions they attend to, and by the word that each finds."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.attention_explorer import literature, relations
from sections.attention_explorer.subject import Inputs, all_names, open_head, pick_head, small_pictures
from sections.attention_explorer.views import wide
from ui import held_out
from ui.figures import figure
from ui.first_views import first_view
from ui.inputs import choice
from ui.inspected_model import HeadPlace, InspectedModel, head_name
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.kinds import HeadKinds

THRESHOLD = 40  # percent; a score above it gives the head its name


def show(lesson: Lesson, inputs: Inputs) -> None:
    ways = {"place": _("Where it looks"), "word": _("Which word it finds")}
    if choice("by", _("A head is named by"), ways) == "word":
        relations.show(lesson, inputs.subject)
    else:
        by_place(lesson, inputs)
        lesson.show("What the names do not say", level=3)


@st.cache_resource(show_spinner=False, max_entries=32)
def measured(subject: InspectedModel, on: str) -> HeadKinds:
    """Scores of all heads on our sentences ("text") or on stories of the toy world ("toy")."""
    import torch

    from minibert.inside.heads import kinds as head_kinds
    from minibert.toy.annotations import encoded_stories

    texts = held_out.texts("toy" if on == "toy" else held_out.kind_of_text(subject.tokenizer))

    def compute() -> dict[str, Any]:
        longest = subject.model.config.longest
        if on == "toy":
            read = encoded_stories(subject.tokenizer, held_out.toy_stories(), longest)
        else:
            read = head_kinds.sentences(subject.tokenizer, texts, longest)
        return {name: values.numpy() for name, values in vars(head_kinds.measure(subject.model, read)).items()}

    stored = first_view("attention_explorer", "kinds", subject.name, [on, texts], compute)
    return head_kinds.HeadKinds(**{name: torch.from_numpy(values) for name, values in stored.items()})


def kind_names() -> dict[str, str]:
    """Names of the kinds of minibert.inside.heads.kinds, as shown to the learner."""
    return {
        "previous": _("previous token"),
        "next": _("next token"),
        "itself": _("itself"),
        "same_word": _("same word"),
        "sep": "[SEP]",
        "cls": "[CLS]",
        "antecedent": _("true antecedent"),
        "broad": _("broad"),
    }


def short_kind_names() -> dict[str, str]:
    """Kind names short enough to fit under a small picture."""
    return kind_names() | {"previous": _("previous"), "next": _("next"), "antecedent": _("antecedent")}


@st.fragment
def by_place(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.heads.kinds import targets

    subject = inputs.subject
    toy = held_out.kind_of_text(subject.tokenizer) == "toy"
    names = {"text": _("our sentences"), "toy": _("stories of the toy world")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        on = choice("on", _("Measured on"), {"toy": names["toy"]} if toy else names)
        threshold = st.slider(
            _("Score that gives a name"),
            20,
            90,
            THRESHOLD,
            key="threshold",
            format="%d %%",
            bind="query-params",
            width=wide(190),
        )
        at = pick_head(inputs)
    with st.spinner(_("Measuring every head …")):
        kinds = measured(subject, on)
    named, short = kinds.named(threshold / 100), short_kind_names()
    labels = [
        "–" if kind is None else f"{short[kind]}\n{kinds.score(kind, i, a):.0%}"
        for i, row in enumerate(named)
        for a, kind in enumerate(row)
    ]
    st.markdown(f"**{finding(named, threshold)}**")
    many = subject.shape[1] > 8  # twelve pictures with their names need the page's whole width
    crowd = st.container() if many else None
    left, right = st.columns([11, 10], gap="medium")
    with crowd or left:
        small_pictures(inputs.sides[0], "explorer-kinds", open_head, labels, selected=at)
    with left if many else right:
        one_head(subject, kinds, at, threshold / 100)
    with right if many else st.container():
        lesson.show("Kinds of heads", title=False)
    if on == "text":
        literature.show_kinds(subject, kinds)
    show_source(targets)


def finding(named: list[list[str | None]], threshold: int) -> str:
    """How many heads have a kind at this threshold, which kinds, and how many have none."""
    heads = [kind for row in named for kind in row]
    counts, words = Counter(kind for kind in heads if kind), kind_names()
    kinds = _(", ").join(f"{words[kind]} {count}" for kind, count in counts.most_common())
    return _("{n} of {all} heads have a name at {line} %{kinds}; {rest} fit none").format(
        n=counts.total(), all=len(heads), line=threshold, kinds=_(": ") + kinds if kinds else "", rest=heads.count(None)
    )


def one_head(subject: InspectedModel, kinds: HeadKinds, at: HeadPlace, threshold: float) -> None:
    """A head's scores beside those of uniform attention."""
    from minibert.inside.heads.kinds import KINDS
    from plots.head_kinds import kind_scores

    counted, words = [k for k in range(len(KINDS)) if kinds.rows[k]], kind_names()
    scores = kinds.scores[:, *at]
    best = max(counted, key=lambda k: scores[k].item())
    title = _("{head}: {kind} {score:.0%}, where even attention scores {chance:.0%}").format(
        head=head_name(*at).capitalize(),
        kind=words[KINDS[best]],
        score=scores[best].item(),
        chance=kinds.chance[best].item(),
    )
    st.markdown(f"**{title}**")
    figure(
        partial(
            kind_scores,
            [words[KINDS[k]] for k in counted],
            scores[counted],
            kinds.chance[counted],
            (_("this head"), _("even attention")),
            threshold=threshold,
        ),
        _("Scores of {head}: {scores}.").format(
            head=head_name(*at), scores=_(", ").join(f"{words[KINDS[k]]} {scores[k].item():.1%}" for k in counted)
        ),
        "explorer-scores",
        data=lambda: pd.DataFrame(
            kinds.scores.flatten(1).T.numpy(), all_names(subject), [words[kind] for kind in KINDS]
        ),
    )
    st.caption(
        _("Counted: {rows}.").format(rows=_(", ").join(f"{words[KINDS[k]]} {int(kinds.rows[k]):,}" for k in counted))
    )
