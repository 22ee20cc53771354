"""The chosen model of the family, and the kind of change to filter by."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from minibert.inside.relatives.family import KINDS, FamilyMember, family
from ui.inputs import choice, pick
from ui.lesson import LESSONS, Lesson
from ui.translations import _

FILE = LESSONS / "family" / "models.toml"


@dataclass(frozen=True)
class Inputs:
    """members: all models, by date · chosen: the name of one · kind: of KINDS, "" for all."""

    members: Mapping[str, FamilyMember]
    chosen: str
    kind: str


def kind_names() -> dict[str, str]:
    """Display names of the kinds of change."""
    words = (
        _("more or other text"),
        _("the training task"),
        _("who sees whom"),
        _("the network"),
        _("the size"),
        _("knowledge"),
        _("what it is used for"),
    )
    return dict(zip(KINDS, words, strict=True))


def read(lesson: Lesson) -> Inputs:
    """Select boxes for the model, which a click in the tree sets too, and for the kind of change."""
    members = family(FILE)
    names = list(members)
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        usual = names.index("BERT")
        chosen = names[pick("model", _("A model; or click one in the tree"), names, usual, width=380)]
        kind = choice("kind", _("Show those that changed"), {"": _("anything"), **kind_names()}, box=260)
    return Inputs(members, chosen, kind)
