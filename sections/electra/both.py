"""BERT and ELECTRA, trained now on the same tokens."""

import streamlit as st

from sections.electra.subject import Inputs
from ui import train_both
from ui.inputs import choice
from ui.lesson import Lesson
from ui.train_both import ComparedModel, Quantity, right_words
from ui.translations import _

WIDTHS = (8, 16, 32, 64, 128)


def variants() -> dict[str, str]:
    return {
        "electra": "ELECTRA",
        "electra_15": _("ELECTRA 15 %"),
        "replace_mlm": _("Replace MLM"),
        "all_tokens_mlm": _("All-tokens MLM"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    train_both.show(lesson, at_choice, ("width", "masked"))


def at_choice() -> dict:
    variant = choice("variant", _("Against BERT"), variants(), wrap=True)
    width = st.select_slider(_("The generator’s width"), WIDTHS, value=32, key="width", bind="query-params")
    masked = st.slider(_("Tokens hidden"), 5, 50, 15, 5, format="%d %%", key="masked", bind="query-params")
    title = variants()[variant] + ("" if width == 32 else _(", generator {width} wide").format(width=width))
    return {
        "sides": [
            ComparedModel("BERT"),
            ComparedModel(title, "electra", {"variant": variant}, {"generator_hidden_size": int(width)}),
        ],
        "quantities": [
            right_words(),
            Quantity(_("MLM loss (of ELECTRA: the generator’s)"), line="mlm_loss"),
            Quantity(_("Tokens judged right by the discriminator"), line="rtd_accuracy", percent=True),
            Quantity(_("The discriminator’s loss, nats a token"), line="rtd_loss"),
        ],
        "masked": int(masked),
    }
