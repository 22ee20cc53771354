"""Shared by all options: the course's reviews, a model ready for training, and the command line."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from ui.inputs import choice
from ui.lesson import REVIEWS
from ui.translations import _

# Import torch, and what imports it, only where needed: the page shows before that.

TASK = "classification"
MODEL = "mini-en"  # small enough to change within a second of training
LABELS = ("positive", "negative")
COLUMNS = ("topic", "kind")  # of the reviews, beside the text


def command(*options: str, data: str = "reviews") -> None:
    files = f"--train lessons/data/{data}/train.tsv --dev lessons/data/{data}/dev.tsv"
    words = " ".join(filter(None, options))
    st.code(f"python -m minibert finetune {files} --out {data} {words}", "bash", wrap_lines=True)


@st.cache_data(show_spinner=False)
def training_data():
    from minibert.tasks import TASKS

    return TASKS[TASK].read(REVIEWS / "train.tsv")


@st.cache_data(show_spinner=False)
def values_of(column: str) -> list[str]:
    return sorted({example.extra[column] for example in training_data().examples})


def bench_of(**changes):
    """A learner for this session alone, in the initial state of `finetune` with these settings."""
    from minibert.finetune.option_effects import FreshLearner
    from minibert.finetune.settings import FinetuneSettings

    with st.spinner(_("Building the model …")):
        return FreshLearner.of(CHECKPOINTS / MODEL, TASK, training_data(), FinetuneSettings(**changes))


def example_of(text: str, label: str, **extra: str):
    from minibert.tasks import Example

    return Example(text, label, extra)


def label_choice() -> str:
    return choice("label", _("Its label"), {"positive": _("positive"), "negative": _("negative")})
