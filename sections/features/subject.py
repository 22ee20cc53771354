"""The chosen task, data and checkpoint, and the recorded results."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.comparisons import COMPARISONS, Comparison
from ui.inputs import choice
from ui.lesson import LESSONS, Lesson
from ui.page import drawer
from ui.recorded import comparison, start_choice, start_folder
from ui.runs import own_runs
from ui.translations import _

KIND = "features"
TAGGING, CLASS = "features", "pooling"  # the comparisons that are run live
PAPER = claims.tables()["features"]["column"][0]


@dataclass(frozen=True)
class Inputs:
    """name: the comparison that is run live and drawn layer by layer · shown: the recorded one on screen."""

    name: str
    shown: str

    @property
    def made(self) -> Comparison:
        return comparison(self.name)

    @property
    def tagging(self) -> bool:
        return self.name == TAGGING


def read(lesson: Lesson) -> Inputs:
    """Widgets for task and data, and in a drawer the checkpoint."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="subject"):
        with st.container(horizontal=True):
            questions = {"tagging": _("a tag for each word"), "class": _("a class of the sentence")}
            kind = choice("asked", _("Task"), questions)
            shown = CLASS
            if kind == "tagging":
                sets = {TAGGING: _("our own sentences"), "features-conll": "CoNLL-2003"}
                shown = choice("set", _("Data"), sets)
        with drawer():
            start_choice(TAGGING, "features-conll", CLASS)
    return Inputs(TAGGING if kind == "tagging" else CLASS, shown)


def arm_names(name: str) -> dict[str, str]:
    """Display names of a comparison's arms, fine-tuning first."""
    if name == "pooling":
        return {
            "fine-tuned-cls": _("fine-tuned, [CLS]"),
            "fine-tuned-mean": _("fine-tuned, mean"),
            "fine-tuned-max": _("fine-tuned, maximum"),
            "frozen-cls": _("frozen, [CLS]"),
            "frozen-mean": _("frozen, mean"),
            "frozen-max": _("frozen, maximum"),
            "frozen-mean-embeddings": _("frozen, mean of the embeddings"),
            "frozen-mean-last-four": _("frozen, mean of the last four, concatenated"),
            "frozen-cls-all": _("frozen, [CLS] of every layer"),
        }
    return {
        "fine-tuned": _("fine-tuned"),
        "embeddings": _("embeddings"),
        "second-to-last": _("second-to-last layer"),
        "last": _("last layer"),
        "last-four-sum": _("last four, summed"),
        "last-four-concat": _("last four, concatenated"),
        "weighted": _("all layers, weighted"),
        "last-linear": _("last layer, no BiLSTM"),
        "random": _("random weights, all trained"),
    }


def metric_of(comparison: Comparison) -> tuple[str, str]:
    """(its key in the metrics, its name)"""
    return ("f1", _("dev F1")) if comparison.task == "tagging" else ("accuracy", _("dev accuracy"))


@st.cache_data(show_spinner=False)
def data_of(name: str):
    from minibert.experiments.compare import read_data

    return read_data(COMPARISONS[name], LESSONS / "data")


def sizes_of(name: str, arm: str):
    """Parameter counts of the model that the arm would train."""
    made = comparison(name)
    return counted_sizes(start_folder(), made.name, made.task, made.values(arm))


@st.cache_data(show_spinner=False, max_entries=64)
def counted_sizes(folder: Path, name: str, task: str, values: dict):
    from minibert.experiments.compare import settings_of, sizes

    with st.spinner(_("Building the model …")):
        return sizes(folder, task, data_of(name)[0], settings_of(values, 0))


def newest_runs(name: str) -> list:
    """The runs of the user's last click, all arms of it."""
    runs = own_runs(f"{KIND}/{name}")
    return [run for run in runs if run.kind == runs[0].kind] if runs else []


def arm_of(made: Comparison, settings: dict) -> str | None:
    """The arm with a run's settings; None if the arms have changed since."""
    from minibert.experiments.compare import settings_of

    def told(values) -> tuple:
        return tuple(values[key] for key in ("freeze", "layers", "pooling", "bilstm", "from_scratch"))

    return next((arm for arm in made.arms if told(vars(settings_of(made.values(arm), 0))) == told(settings)), None)


def own_scores(name: str) -> dict[str, list[float]]:
    """Arm → scores that the user's own runs of it have reached so far, in percent."""
    made, scores = comparison(name), {}
    for run in newest_runs(name):
        begun, measured = run.latest("started"), run.latest("eval")
        arm = arm_of(made, begun["settings"]) if begun else None
        if arm and measured:
            scores.setdefault(arm, []).append(100 * measured["metrics"][metric_of(made)[0]])
    return scores
