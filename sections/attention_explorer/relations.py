"""Which word each head finds: grammatical relations and pronouns, beside the heads of BERT-base in the paper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.attention_explorer import one_relation
from sections.attention_explorer.literature import literature
from sections.attention_explorer.subject import open_head
from ui import held_out, samples
from ui.figures import figure, legend
from ui.inputs import pick, state
from ui.inspected_model import InspectedModel
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.accuracy import HeadQuestions, RelationAccuracy

# Roughly by the gain of BERT-base's best head over the rule in the paper (on auxpass see literature.csv).
ORDER = ("dobj", "pobj", "det", "poss", "coref", "nsubj", "aux", "auxpass", "prt", "amod")


def relation_names() -> dict[str, tuple[str, str]]:
    """Names of dependent and head of each relation, as shown to the learner."""
    return {
        "det": (_("determiner"), _("noun")),
        "amod": (_("adjective"), _("noun")),
        "poss": (_("possessive"), _("noun")),
        "aux": (_("auxiliary"), _("verb")),
        "auxpass": (_("passive auxiliary"), _("verb")),
        "nsubj": (_("subject"), _("verb")),
        "dobj": (_("object"), _("verb")),
        "pobj": (_("object"), _("preposition")),
        "prt": (_("particle"), _("verb")),
        "coref": (_("pronoun"), _("antecedent")),
    }


def mark_names() -> tuple[str, str, str]:
    return _("this model's best head"), _("BERT-base's (Clark et al. 2019)"), _("best rule without a model")


def row_name(found: RelationAccuracy) -> str:
    """Name of the relation: attending word → wanted word."""
    dependent, head = relation_names()[found.relation]
    looking, wanted = (dependent, head) if found.direction == "from_dependent" else (head, dependent)
    return f"{looking} → {wanted}"


def short_name(layer: int, head: int) -> str:
    return f"{layer + 1}.{head + 1}"


@st.cache_resource(show_spinner=False)
def questions() -> tuple[HeadQuestions, HeadQuestions]:
    """Questions on the grammar of our annotated sentences, and on our pronouns."""
    from minibert.inside.heads.accuracy import about_pronouns, about_relations
    from minibert.inside.heads.grammatical_relations import relations

    sentences = samples.annotated("en")
    found = [relations(words, pos, chunks) for words, pos, chunks, *_names in sentences]
    return about_relations([sentence[0] for sentence in sentences], found), about_pronouns(samples.pronouns())


@st.cache_resource(show_spinner=False, max_entries=16)
def measured(subject: InspectedModel) -> list[RelationAccuracy]:
    """For each relation the better of both directions, in the order of ORDER."""
    from minibert.inside.heads.accuracy import better_direction, measure_heads

    found = [one for asked in questions() for one in measure_heads(subject.model, subject.tokenizer, asked)]
    return sorted(better_direction(found), key=lambda one: ORDER.index(one.relation))


# --- on the page ------------------------------------------------------------------------------------------------------


@st.fragment
def show(lesson: Lesson, subject: InspectedModel) -> None:
    """The picture of all relations, and the chosen one in a sentence."""
    from plots.head_kinds import FOUND_LOOKS

    if held_out.kind_of_text(subject.tokenizer) != "en":
        st.info(_("These sentences are English: choose a model that reads English."), icon=":material/info:")
        return
    with st.spinner(_("Computing every head’s attention on every sentence; the first time this takes a few seconds …")):
        found = measured(subject)
    st.markdown(f"**{finding(found)}**")
    legend([(colour, sign, words) for (colour, _s), sign, words in zip(FOUND_LOOKS, "●◆┃", mark_names(), strict=True)])
    left, right = st.columns([3, 2], gap="medium")
    with right:
        chosen = pick("relation", _("Relation"), [row_name(one) for one in found])
        one_relation.show(subject, found[chosen], questions()[found[chosen].relation == "coref"])
    with left, st.container(key="wide-relations"):
        picture(found, chosen)
    lesson.show("Which word a head finds", title=False)
    lesson.show("How this is measured", level=3)
    show_sources()


def picture(found: list[RelationAccuracy], chosen: int) -> None:
    from plots.head_kinds import FoundWord, found_words

    paper = literature("literature")
    ours = [FoundWord(short_name(*one.best), one.held_out, one.baseline) for one in found]
    theirs = [paper_word(paper.get(one.relation)) for one in found]
    names = [row_name(one) for one in found]

    def clicked() -> None:
        points = st.session_state["explorer-relations"].selection.points
        if points:
            data = points[0]["customdata"]
            row = int(next(iter(data.values())) if isinstance(data, dict) else data[0])
            st.session_state[state("relation")] = row
            layer, head = found[row].best
            open_head({"layer": layer, "head": head})

    figure(
        partial(
            found_words,
            names,
            ours,
            theirs,
            mark_names(),
            selected=chosen,
        ),
        finding(found)
        + " "
        + " ".join(
            _("{relation}: head {head} {accuracy:.0%}, rule {rule:.0%}.").format(
                relation=name, head=one.head, accuracy=one.accuracy, rule=one.rule
            )
            for name, one in zip(names, ours, strict=True)
        ),
        "explorer-relations",
        on_select=clicked,
        data=lambda: [table_row(one, paper.get(one.relation)) for one in found],
    )


def paper_word(row: dict[str, str] | None):
    from plots.head_kinds import FoundWord

    if row is None:
        return None
    return FoundWord(f"{row['layer']}.{row['head']}", float(row["accuracy"]) / 100, float(row["baseline"]) / 100)


def finding(found: list[RelationAccuracy]) -> str:
    """The figure in a sentence: how many heads clearly beat their rule, and which by most."""
    clear = [one for one in found if one.held_out > one.baseline + 0.05]
    if not clear:
        return _("No head finds a word more often than the best rule without a model.")
    most = max(clear, key=lambda one: one.held_out - one.baseline)
    return _(
        "In {n} of {all} relations one head beats the best rule by more than 5 points, most in {relation}: "
        "{accuracy:.0%} against {rule:.0%}."
    ).format(n=len(clear), all=len(found), relation=row_name(most), accuracy=most.held_out, rule=most.baseline)


def table_row(found: RelationAccuracy, paper: dict[str, str] | None) -> dict:
    layer, head = found.best
    paper = paper or {}
    return {
        _("relation"): row_name(found),
        _("words tested"): len(found.questions),
        _("best head"): short_name(layer, head),
        _("right, on the other half"): found.held_out,
        _("right, on all"): found.accuracy[layer, head].item(),
        _("best rule"): found.rule,
        _("right by the rule"): found.baseline,
        _("BERT-base: head"): f"{paper['layer']}.{paper['head']}" if paper else "",
        _("BERT-base: right"): float(paper["accuracy"]) / 100 if paper else None,
        _("BERT-base: rule"): f"{paper['rule']}{_(': ')}{paper['baseline']} %" if paper else "",
        _("in the paper"): " · ".join(filter(None, (paper.get("where"), paper.get("note")))),
    }


def show_sources() -> None:
    from minibert.inside.heads.accuracy import between_words
    from minibert.inside.heads.grammatical_relations import relations

    show_source(between_words)
    show_source(relations)
