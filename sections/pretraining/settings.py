"""How a run is trained: the settings beside the button, and those in the drawer."""

from dataclasses import replace

import streamlit as st

from ui.inputs import choice
from ui.state import url_choice
from ui.translations import _

# The values of minibert.toy.pretrain.TOY (a test compares them), copied so that the page opens without importing it.
SECONDS, STEPS = 60, 600  # about a minute on two idle cores
RATE, MASKED = 5e-3, 35
RATES = [1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, RATE, 1e-2, 2e-2]
SIZES = ("tiny", "mini", "small")
SECONDS_AT_MOST, STEPS_AT_MOST = 900, 5_000  # so that one run cannot occupy a worker for ever
PIECES = 2_000
SAVE_MINUTES = 0.25  # between saved states, from which a killed run resumes
MAX_NAME = 60


def sizes() -> dict[str, str]:
    from minibert.config import PRESETS

    return {
        name: _("{name}: L {l}, H {h}, A {a}").format(name=name, **dict(zip("lha", PRESETS[name], strict=True)))
        for name in SIZES
    }


def choose_budget() -> dict:
    """How long to train: a number of steps, independent of the machine's load, or a number of seconds."""
    look = {"bind": "query-params", "width": 180}
    if st.session_state.get("budget", url_choice("budget", ("steps", "seconds"), "steps")) == "seconds":
        seconds = st.slider(_("Seconds of training"), 10, SECONDS_AT_MOST, SECONDS, 10, key="seconds", **look)
        return {"minutes": seconds / 60, "steps": None}
    return {"minutes": None, "steps": st.slider(_("Steps"), 50, STEPS_AT_MOST, STEPS, 50, key="steps", **look)}


def choose_settings(data: str) -> dict:
    """Rarely changed settings, all kept in the link."""
    chosen = {"preset": choice("size", _("Size"), sizes())}
    choice("budget", _("Train for"), {"steps": _("steps"), "seconds": _("seconds")})
    chosen["optimizer"] = choice("optimizer", _("Optimizer"), {"muon": "Muon", "adamw": "AdamW"})
    kept = {"bind": "query-params", "format_func": "{:g}".format}
    hint = _("The highest: it rises to this value, then falls to zero.")
    chosen["rate"] = st.select_slider(_("Learning rate"), RATES, value=RATE, key="rate", help=hint, **kept)
    kept = {"bind": "query-params", "format": "%d %%"}
    hint = _("The paper hides 15 %. Hiding more gives more predictions from each text, which pays in a short run.")
    chosen["masked"] = st.slider(_("Tokens hidden"), 5, 60, MASKED, 5, key="masked", help=hint, **kept)
    if data != "toy":
        kept, hint = {"bind": "query-params"}, _("Pieces to learn from the text; a short text has fewer.")
        chosen["pieces"] = st.slider(_("Vocabulary"), 500, 8_000, PIECES, 500, key="pieces", help=hint, **kept)
    chosen["start"] = choice(
        "start", _("Token embeddings start from"), {"counts": _("counts"), "random": _("random numbers")}
    )
    chosen["pairs"] = st.toggle(_("Next sentences too"), key="pairs", bind="query-params")
    if chosen["pairs"]:
        chosen["nsp"] = st.slider(_("Weight of their loss"), 0.1, 2.0, 1.0, 0.1, key="nsp", bind="query-params")
    chosen["seed"] = st.number_input(_("Seed"), 0, 999_999, 0, key="seed", bind="query-params", width=150) or 0
    return chosen


def settings_of(chosen: dict, toy: bool):
    """The page's choices applied to the defaults for a run of a minute."""
    from minibert.toy.pretrain import TOY

    return replace(
        TOY,
        preset=chosen["preset"],
        minutes=chosen["minutes"],
        steps=chosen["steps"],
        vocab_size=chosen.get("pieces", TOY.vocab_size),
        input_format="segment_pair" if chosen["pairs"] else TOY.input_format if toy else "full_sentences",
        nsp_weight=chosen.get("nsp", TOY.nsp_weight),
        start=chosen["start"],
        seed=int(chosen["seed"]),
        save_minutes=SAVE_MINUTES,
        masking=replace(TOY.masking, rate=chosen["masked"] / 100),
        optimization=replace(TOY.optimization, learning_rate=chosen["rate"], optimizer=chosen["optimizer"]),
    )
