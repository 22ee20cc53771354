"""The parts of the course and their lessons."""

import streamlit as st

from ui.lesson import Lesson
from ui.navigation import link_to, parts
from ui.translations import _


def show(lesson: Lesson) -> None:
    """A row for each part: its title, and a link to each of its lessons with what that is about, in a few words."""
    about = {
        "through": _("The whole way in one picture"),
        "reading": _("Paragraph by paragraph"),
        "tokenization": _("Text becomes tokens"),
        "input": _("Tokens become vectors"),
        "attention": _("Tokens look at each other"),
        "encoder_decoder": _("A block, and why no decoder"),
        "parameters": _("Every number, counted"),
        "masking": _("Hide words and guess them"),
        "next_sentence": _("Does this text follow that?"),
        "pretraining": _("Train a BERT in a minute"),
        "experiments": _("What is each choice worth?"),
        "output_layer": _("One layer for any task"),
        "features": _("Train BERT, or only read it?"),
        "stability": _("Another seed, another score"),
        "training_options": _("What does each switch do?"),
        "service": _("A TSV in, a service out"),
        "attention_explorer": _("All heads: where they look"),
        "embeddings": _("One word, several meanings"),
        "probes": _("Surface, syntax, meaning"),
        "attribution": _("Which words decided?"),
        "wrong_reasons": _("Right for the wrong reasons"),
        "family": _("Who came from BERT"),
        "what_to_hide": _("Pieces, words, names, spans"),
        "ernie2": _("One task after another"),
        "electra": _("Which token is wrong?"),
        "xlnet": _("Words guessed in any order"),
        "to_write": _("One network reads and writes"),
        "albert": _("One block for all layers"),
        "nezha": _("How far apart two words are"),
        "knowledge": _("Facts attached to a sentence"),
        "sentence_vectors": _("Who says the same?"),
        "cone": _("All sentences point one way"),
        "smaller": _("Learning from a large model"),
        "few_labels": _("A task as a blank to fill"),
        "dialogue": _("Intent and entities"),
        "examination": _("With numbers of your own"),
    }
    lesson.show("The road")
    with st.container(key="road", gap=None):
        for title, every in parts().items():
            stops = [stop for stop in every if stop.name != "home"]
            with st.container(key=f"road-{stops[0].name}"):
                st.markdown(f"### {title}")
                with st.container(key=f"tiles-{stops[0].name}"):
                    for stop in stops:
                        link_to(stop.name, f"**{stop.title}** {about[stop.name]}", width="stretch")
