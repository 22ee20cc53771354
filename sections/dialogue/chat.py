"""The central picture: the user's sentence with its entities in colour, and the probability of each intent."""

import streamlit as st

from sections.dialogue.subject import Inputs, answer_to
from ui.figures import figure
from ui.page import picture
from ui.tasks.entities import entities_sentence, entities_words, show_entities
from ui.text import literal, visible
from ui.translations import _


@st.fragment
def show(inputs: Inputs) -> None:
    from minibert.diet.predictor import ranked_intents
    from plots.dialogue import intents

    with picture():
        if not inputs.answers:
            st.info(_("Say something."), icon=":material/edit:")
            return
        with st.spinner(_("Reading …")):
            answer = answer_to(inputs.text)
        with st.chat_message("user"):
            show_entities(answer)
        ranked = ranked_intents(answer)
        names, probs = zip(*ranked, strict=True)
        summary = _("The intent: {intent}, {p:.1%}").format(intent=names[0], p=probs[0])
        figure(
            intents(list(names), list(probs), _("confidence"), summary),
            _("How sure each intent of “{text}” is. {listed}. {entities}").format(
                text=visible(inputs.text, spaces=False),
                listed=_("; ").join(f"{n} {p:.1%}" for n, p in ranked),
                entities=_("Entities: {which}.").format(which=entities_words(answer)),
            ),
            "intents",
            height=300,
            data=[{_("intent"): name, _("confidence"): round(p, 4)} for name, p in ranked],
        )
    known = _(
        "It knows eight intents and nothing else: it has learned 408 requests in half a minute of one processor core."
    )
    st.caption(f"{entities_sentence(answer)}  \n{known}")
    if probs[0] < 0.5:
        st.caption(_("It is not sure of **{intent}**: an assistant would ask again.").format(intent=literal(names[0])))
