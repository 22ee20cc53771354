"""How the model runs: the choices that affect memory only."""

import streamlit as st

from ui.inputs import choice
from ui.state import url_choice
from ui.translations import _


def _choices() -> dict[str, tuple[str, dict[str, str]]]:
    """Name in the link → label and options, the default first."""
    return {
        "run": (_("What runs"), {"training": _("training"), "inference": _("inference")}),
        "attn": (_("Attention"), {"fused": _("fused"), "explicit": _("written out")}),
        "bits": (_("Precision"), {"fp32": "fp32", "bf16": "bf16"}),
        "opt": (_("Optimizer"), {"adamw": "AdamW", "momentum": _("momentum"), "sgd": "SGD"}),
    }


def choose() -> None:
    with st.container(horizontal=True, key="how-to-run", gap="medium"):
        for key, (label, options) in _choices().items():
            choice(key, label, options)


def now() -> dict[str, object]:
    """The current choices, valid even while their widgets are not drawn → keyword arguments of `memory`."""
    state = st.session_state
    run, attention, precision, optimizer = (
        chosen if (chosen := state.get(key)) in options else url_choice(key, list(options), next(iter(options)))
        for key, (_label, options) in _choices().items()
    )
    return {"training": run == "training", "attention": attention, "precision": precision, "optimizer": optimizer}
