"""The user's sentence, recorded results of teacher and students, and the cost of reading the sentence here."""

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from ui.claim import records_of
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import load, load_predictor, version_of
from ui.page import with_drawer
from ui.translations import _

if TYPE_CHECKING:
    from torch import nn

    from minibert.inside.costs.cost import Cost

MAX_CHARS = 300
PREFIX = "smaller"  # of the `kind` of this page's runs
STUDENT, TEACHER = "mini-en", "minilm-en"
REPEATS = 3


@dataclass(frozen=True)
class Inputs:
    """drawn: "recorded", or "own" for the class's runs."""

    text: str
    drawn: str

    @property
    def watched(self) -> list[dict[str, str]]:
        """What runs answer while they train."""
        return [{"text": self.text}] if self.text else []


def read(lesson: Lesson) -> Inputs:
    """The sentence; in a drawer the source of the accuracies drawn."""
    left, side = with_drawer(_("What is drawn"), key="smaller-drawer")
    with side:
        examples = st.container()
        names = {"recorded": _("recorded, on SST-2"), "own": _("this class’s runs, on the course’s reviews")}
        drawn = choice("drawn", _("Accuracy"), names, wrap=True)
    with left:
        text = sentence_input(
            "text",
            lesson.examples_for(STUDENT),
            max_chars=MAX_CHARS,
            examples_in=examples,
            travels=True,
            label=_("A sentence that all of them read"),
        )
    warn_unread_text(STUDENT, text)
    return Inputs(text.strip(), drawn)


@st.cache_resource(show_spinner=False, max_entries=4)
def in_eight_bits(name: str, version: int) -> "nn.Module":
    from minibert.inside.costs.cost import int8

    return int8(load(name).model.bert)


@st.cache_data(show_spinner=False, max_entries=200)
def _costs(text: str, versions: tuple[int, ...]) -> dict[str, "Cost"]:
    from minibert.inside.costs.cost import measure

    models = {}
    for name in (STUDENT, TEACHER):
        loaded = load(name)
        models[name] = loaded.model.bert, loaded.tokenizer
        models[f"{name}_int8"] = in_eight_bits(name, version_of(name)), loaded.tokenizer
    return measure(models, [text], REPEATS)


def costs(text: str) -> dict[str, "Cost"]:
    """Cost of both networks, and with "_int8" in eight bits: measured on the text, once for all sessions."""
    return _costs(text, tuple(version_of(name) for name in (STUDENT, TEACHER)))


@st.cache_data(show_spinner=False, max_entries=100)
def costs_of_runs(runs: tuple[tuple[str, str], ...], text: str) -> dict[str, "Cost"]:
    """Run → cost of its encoder. runs: (id, folder of its model)."""
    from minibert.inside.costs.cost import measure

    models = {run: load_predictor(run, directory) for run, directory in runs}
    return measure({run: (known.model.bert, known.tokenizer) for run, known in models.items()}, [text], REPEATS)


def recorded(metric: str, experiment: str = PREFIX) -> dict[str, list[float]]:
    """Arm → recorded values of a metric, one per seed."""
    results: dict[str, list[float]] = {}
    for record in records_of(experiment):
        results.setdefault(record["arm"], []).append(record["metrics"][metric])
    return results


def mean_and_half(values: list[float]) -> tuple[float, float]:
    """The mean and the standard deviation (0 for one value)."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0
