"""The planted cue, the checkpoint to begin with, and the models that this user has trained."""

import streamlit as st

from ui.inputs import choice
from ui.page import drawer
from ui.recorded import start, start_choice
from ui.runs import complete, own_runs, settled
from ui.translations import _

KIND = "cues"


def cue_names() -> dict[str, str]:
    return {"not": _("Cue: the word “not” (as in ARCT)"), "overlap": _("Cue: words in common (as in HANS)")}


def training_names() -> dict[str, str]:
    return {"planted": _("trained with the cue"), "balanced": _("trained with the cue balanced")}


def test_names() -> dict[str, str]:
    return {"planted": _("cue as planted"), "balanced": _("cue says nothing"), "flipped": _("cue flipped")}


def read() -> str:
    """Widgets for the cue, and in a drawer checkpoint and seeds → name of the cue."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        cue = choice("cue", _("The cue"), cue_names(), wrap=True, bare=True)
        with drawer(holds=("seeds",)):
            start_choice(KIND)
            st.slider(_("Seeds"), 1, 3, 1, key="seeds", bind="query-params", width=320)
    return cue


@st.cache_resource(show_spinner=False, max_entries=4)
def sets_of(cue: str) -> tuple[str, dict, object]:
    """(task, training condition → data, the three tests as one set): `minibert.tasks.TaskData`, never changed."""
    from minibert.experiments import cues

    return cues.sets_of(cue)


def recording(case: str) -> str:
    """The command that records a case for the chosen checkpoint in lessons/results/<checkpoint>/cues.jsonl."""
    folder = "" if case == "not" else "MINIBERT_DATA=… "
    return f"{folder}python -m minibert.experiments.cues --model checkpoints/{start()} {case}"


def latest(cue: str) -> list:
    """The runs of the last click, oldest first."""
    runs = own_runs(f"{KIND}/{cue}")
    return [run for run in reversed(runs) if run.kind.rsplit("/", 1)[0] == runs[0].kind.rsplit("/", 1)[0]]


def training_of(run) -> str:
    return run.kind.rsplit("/", 1)[1]


def finished(cue: str) -> dict[str, object]:
    """Training → its first finished run of the last click."""
    results = {}
    for run in latest(cue):
        if settled(run) and run.state == "finished" and complete(run.result):
            results.setdefault(training_of(run), run)
    return results
