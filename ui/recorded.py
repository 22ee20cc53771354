"""Recorded comparisons of fine-tuning arms: choice of the starting checkpoint, and reading the records."""

from pathlib import Path

import streamlit as st

from minibert.experiments.comparisons import REQUIRED, Comparison, comparison_named
from minibert.folders import CHECKPOINTS, results_to_read
from ui.claim import records_at, show_missing
from ui.model_cache import outline_of
from ui.model_widgets import WELL_READ, choose_model
from ui.runs import complete
from ui.translations import _

STARTS = ("mini-en", WELL_READ)
NAMED = {"arm", "seed", "metrics"}  # fields of every record
_KEY = "checkpoint"  # not "start", which is the key of a button on one of the pages


def start_choice(*names: str) -> None:
    """A select box over the checkpoints in STARTS, stored in the link. Default: the last one for which any of the
    comparisons `names` has been recorded."""
    there = [start for start in STARTS if complete(CHECKPOINTS / start)] or STARTS[:1]
    default = next((start for start in reversed(there) if any(_path(start, name).exists() for name in names)), None)
    choose_model(_KEY, _("From the checkpoint"), {start: start for start in there}, {}, default)


def start() -> str:
    """Name of the chosen checkpoint."""
    return st.session_state[_KEY]


def start_folder() -> Path:
    return CHECKPOINTS / start()


def comparison(name: str) -> Comparison:
    """The comparison `name` with the settings for the chosen checkpoint."""
    return comparison_named(name, outline_of(start()).config.hidden_size)


def recorded(name: str) -> list[dict]:
    """Records whose settings match the current definition of their arm; [] if there are none."""
    records = records_of(name, REQUIRED)
    made = comparison(name)
    return [r for r in records if r["arm"] in made.arms and r["settings"] == made.values(r["arm"])]


def records_of(name: str, required: set[str] = NAMED) -> list[dict]:
    """All records of `name` from the chosen checkpoint; [] if the file is missing or cannot be read."""
    return records_at(_path(start(), name), required)


def show_missing_results(name: str) -> None:
    """Say from which checkpoint the comparison `name` has been recorded, and offer it; and which command records it."""
    chosen = "" if start() == STARTS[0] else f" --model checkpoints/{start()}"
    command = f"python -m minibert experiment {name}{chosen}"
    there = next((other for other in STARTS if other != start() and _path(other, name).exists()), None)
    if there is None:
        show_missing(command)
        return
    with st.container(border=True, key="no-results"):
        st.markdown(_("**Recorded from {there} alone**, not from {here}.").format(there=there, here=start()))
        words = _("Show those recorded from {model}").format(model=there)
        icon = ":material/arrow_forward:"
        st.button(words, key=f"from-{there}", type="primary", icon=icon, on_click=_begin_from, args=(there,))
        st.markdown(_("This records them from {here}, too:").format(here=start()))
        st.code(command, "bash")


def _begin_from(name: str) -> None:
    st.session_state[_KEY] = name


def _path(begun: str, name: str) -> Path:
    return results_to_read(f"{begun}/{name}.jsonl")
