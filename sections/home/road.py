"""The parts of the course and their lessons."""

import streamlit as st

from ui.navigation import link_to, parts
from ui.translations import _


def show() -> None:
    """Each card links to its lesson."""
    about = {
        "through": _("The **whole way** in one picture, with your sentence."),
        "reading": _("Paragraph by paragraph: **what it says**, and where to see it."),
        "tokenization": _("Text becomes **tokens**: pieces from a fixed vocabulary."),
        "input": _("Tokens become **vectors**: what, where, and which sentence."),
        "attention": _("Every token **looks at** every other, layer after layer."),
        "encoder_decoder": _("A **block** whole, and why BERT keeps the encoder only."),
        "parameters": _("All that is **numbers**: count them, to the last one."),
        "masking": _("**Hide** words, guess them from both sides."),
        "next_sentence": _("Does this text **follow** that one?"),
        "pretraining": _("**Train** a BERT in a minute, and look back at how it learned."),
        "experiments": _("**Change one choice**, train again: what was it worth?"),
        "output_layer": _("One small layer more gives the **answer**, whatever the task."),
        "features": _("Train all of BERT, or only **read** its layers?"),
        "stability": _("The same settings, another **seed**, another score."),
        "training_options": _("Rates by layer, dropout, half precision, LAMB: **what each does and changes**."),
        "service": _("A TSV in, a checked model out, answering **over HTTP**."),
        "attention_explorer": _("All heads at once: what they look at, and what breaks **without them**."),
        "embeddings": _("One word, several **meanings**: vectors from layer to layer."),
        "probes": _("Surface, syntax, meaning: **what each layer knows**."),
        "attribution": _("Which words **made the answer**? Five methods, compared."),
        "wrong_reasons": _("High scores for the **wrong reasons**, and how to notice."),
        "family": _("**Who came from BERT**, what each changed, and what it cost."),
        "what_to_hide": _("Pieces, words, names, **spans**: what should be missing?"),
        "ernie2": _("One **task after another**: what is forgotten, and what keeps it."),
        "electra": _("Not which word is missing, but **which one is wrong**, at every token."),
        "xlnet": _("In **any order**: each word from those read before it, and no [MASK] at all."),
        "to_write": _("One network, four masks: it reads, and **writes**; and BERT as a **corrector**."),
        "albert": _("**One block** for all layers: fewer weights, and as much work."),
        "nezha": _("No absolute positions, only **how far apart** two words are."),
        "knowledge": _("**Facts** attached to a sentence, and a mask that keeps them in their place."),
        "sentence_vectors": _("**One vector a sentence**: who says the same, among a thousand, at once."),
        "cone": _("All sentences point **one way**: a matrix, or a flow, spreads them."),
        "smaller": _("A small model **learns from a large one**: size, speed, accuracy in one picture."),
        "few_labels": _("A task as a **blank** to fill: with eight labels, or with none."),
        "dialogue": _("**Intent and entities**: a small network of its own, trained in half a minute."),
        "examination": _("Questions with **numbers of your own**, marked at once, with reasons."),
    }
    number = 0
    for title, every in parts().items():
        stops = [stop for stop in every if stop.name != "home"]
        st.markdown(f"#### {title}")
        with st.grid(3, min_column_width=230, key=f"road-{stops[0].name}") as grid:
            for stop in stops:
                number += 1
                with grid.container(border=True, height="stretch", key=f"stop-{stop.name}"):
                    link_to(stop.name, label=f"{number}. {stop.title}")
                    st.markdown(about[stop.name])
