"""The way of a sentence through BERT, in stages: where each is taught, and where on it each page stands."""

from dataclasses import dataclass

import streamlit as st

from ui.navigation import stop_called
from ui.projector import projecting
from ui.translations import _

WHOLE = "through"  # the page on which the whole way is drawn


@dataclass(frozen=True)
class Stage:
    """name: of the stage · title: in a word · page: the lesson that takes it apart."""

    name: str
    title: str
    page: str


def stages() -> list[Stage]:
    """From the letters to the answers."""
    return [
        Stage("letters", _("Letters"), "tokenization"),
        Stage("pieces", _("Pieces"), "tokenization"),
        Stage("vectors", _("Vectors"), "input"),
        Stage("heads", _("Heads"), "attention"),
        Stage("network", _("Feed-forward"), "encoder_decoder"),
        Stage("blank", _("Blank"), "masking"),
        Stage("pair", _("Pair"), "next_sentence"),
        Stage("class", _("Class"), "output_layer"),
    ]


# Page → the stages that it is about. On the first two the whole way is drawn large.
HERE: dict[str, tuple[str, ...]] = {
    "home": (),
    "through": (),
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
    "attribution": ("letters", "class"),
    "wrong_reasons": ("class",),
    "family": (),
    "what_to_hide": ("pieces", "blank"),
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
    """A row of links: the way of a sentence, the part of it that the page `name` is about lit. Nothing on a page on
    which the way itself is drawn or that has no place on it, and nothing on a wall."""
    lit = HERE.get(name, ())
    if not lit or stop_called(WHOLE) is None or projecting():
        return
    with st.container(key="here", horizontal=True, gap=None):
        st.page_link(stop_called(WHOLE).path, label=_("You are here"), icon=":material/route:")
        for stage in stages():
            stop = stop_called(stage.page)
            if stop is not None:
                on = stage.name in lit
                with st.container(key=f"{'lit' if on else 'stage'}-{stage.name}", width="content"):
                    st.page_link(stop.path, label=f"**{stage.title}**" if on else stage.title, width="content")
