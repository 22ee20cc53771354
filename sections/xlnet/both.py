"""BERT and XLNet, trained live on the same tokens, with the same share of targets."""

import streamlit as st

from sections.xlnet.subject import Inputs
from ui import train_both
from ui.inputs import choice
from ui.lesson import Lesson
from ui.train_both import ComparedModel, Quantity, right_words
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    train_both.show(lesson, at_choice, ("both-share",))


def at_choice() -> dict:
    share = st.slider(_("Tokens guessed, of both"), 5, 50, 25, 5, format="%d %%", key="both-share", bind="query-params")
    context = choice(
        "context",
        _("What is not guessed sees"),
        {"order": _("what is read before it (paper)"), "all": _("all (code)")},
        wrap=True,
    )
    spans = choice("guessed", _("XLNet guesses"), {"words": _("single words"), "spans": _("up to five in a row")})
    title = "XLNet" if context == "order" else _("XLNet, as in the code")
    title = _("{model}, spans").format(model=title) if spans == "spans" else title
    return {
        "sides": [
            ComparedModel("BERT"),
            ComparedModel(title, "xlnet", {"share": int(share) / 100, "context": context, "spans": spans == "spans"}),
        ],
        "quantities": [
            right_words(),
            Quantity(_("BERT: loss of what is hidden"), line="mlm_loss"),
            Quantity(_("XLNet: loss of what comes last"), line="plm_loss"),
        ],
        "masked": int(share),
    }
