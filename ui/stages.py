"""Stages of a sentence's way through BERT: the lesson about each, and the stages each page covers."""

from dataclasses import dataclass

import streamlit as st

from ui.navigation import find_page, link_to
from ui.projector import projecting
from ui.translations import _, pgettext

WHOLE = "through"  # the page that shows all stages


@dataclass(frozen=True)
class BertStage:
    """title: one or two words · page: the lesson about this stage."""

    name: str
    title: str
    page: str


def stages() -> list[BertStage]:
    """All stages, from the input letters to the predictions."""
    return [
        BertStage("letters", _("Letters"), "tokenization"),
        BertStage("pieces", _("Pieces"), "tokenization"),
        BertStage("vectors", _("Vectors"), "input"),
        BertStage("heads", _("Heads"), "attention"),
        BertStage("network", _("Feed-forward"), "encoder_decoder"),
        BertStage("blank", _("Blank"), "masking"),
        BertStage("pair", _("Pair"), "next_sentence"),
        BertStage("class", pgettext("of a text", "Class"), "output_layer"),
    ]


# Page → the stages it covers. The first two pages draw all stages themselves.
HERE: dict[str, tuple[str, ...]] = {
    "home": (),
    "through": (),
    "reading": (),
    "tokenization": ("letters", "pieces"),
    "input": ("vectors",),
    "attention": ("heads",),
    "encoder_decoder": ("heads", "network"),
    "parameters": ("vectors", "heads", "network", "blank", "pair"),
    "masking": ("blank",),
    "next_sentence": ("pair",),
    "pretraining": ("blank", "pair"),
    "experiments": ("blank", "pair"),
    "output_layer": ("class",),
    "features": ("heads", "network", "class"),
    "stability": ("class",),
    "training_options": ("class",),
    "service": ("class",),
    "attention_explorer": ("heads",),
    "embeddings": ("vectors", "heads", "network"),
    "probes": ("heads", "network"),
    "attribution": ("letters", "blank", "class"),
    "wrong_reasons": ("class",),
    "family": (),
    "what_to_hide": ("pieces", "blank"),
    "ernie2": ("vectors", "blank"),
    "electra": ("blank",),
    "xlnet": ("vectors", "heads", "blank"),
    "to_write": ("heads", "blank"),
    "albert": ("vectors", "heads", "network", "pair"),
    "knowledge": ("vectors", "heads"),
    "nezha": ("vectors", "heads"),
    "sentence_vectors": ("vectors", "network"),
    "cone": ("vectors", "network"),
    "smaller": ("network", "class"),
    "few_labels": ("blank",),
    "dialogue": ("letters", "heads", "class"),
    "examination": (),
}


def you_are_here(name: str) -> None:
    """A row of links to all stages, with those that the page `name` covers highlighted. Nothing for pages with no
    stages in HERE, and in projector mode."""
    lit = HERE.get(name, ())
    if not lit or find_page(WHOLE) is None or projecting():
        return
    with st.container(key="here", horizontal=True, gap=None):
        link_to(WHOLE, _("You are here"), icon=":material/route:")
        for stage in stages():
            if find_page(stage.page) is not None:
                on = stage.name in lit
                with st.container(key=f"{'lit' if on else 'stage'}-{stage.name}", width="content"):
                    link_to(stage.page, f"**{stage.title}**" if on else stage.title, icon=None, width="content")
