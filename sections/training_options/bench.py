"""Shared by all options: the course's reviews, a model ready for training, and the command line. In Chinese the reviews
and the model are Chinese."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from ui.inputs import choice
from ui.lesson import LESSONS
from ui.translations import DEFAULT, _, first_language

# Import torch, and what imports it, only where needed: the page shows before that.

TASK = "classification"
MODELS = {"en": "mini-en", "zh": "mini-zh"}  # small enough to change within a second of training
REVIEWS = {"en": "reviews", "zh": "reviews-zh"}  # in lessons/data
LABELS = ("positive", "negative")
COLUMNS = {"en": ("topic", "kind"), "zh": ("kind",)}  # of the reviews, beside the text


def read_here() -> str:
    """The language of the reviews and of the model: the reader's, if there are some."""
    return next((one for one in MODELS if one == first_language()), DEFAULT)


def model() -> str:
    return MODELS[read_here()]


def columns() -> tuple[str, ...]:
    return COLUMNS[read_here()]


def called(name: str) -> str:
    """The list `name` of examples.toml in the language of the model."""
    return name if read_here() == DEFAULT else f"{name}_{read_here()}"


def command(*options: str, data: str = "") -> None:
    data = data or REVIEWS[read_here()]
    files = f"--train lessons/data/{data}/train.tsv --dev lessons/data/{data}/dev.tsv"
    words = " ".join(filter(None, options))
    st.code(f"python -m minibert finetune {files} --out {data} {words}", "bash", wrap_lines=True)


def training_data():
    return _read(REVIEWS[read_here()])


@st.cache_data(show_spinner=False)
def _read(name: str):
    from minibert.tasks import TASKS

    return TASKS[TASK].read(LESSONS / "data" / name / "train.tsv")


def values_of(column: str) -> list[str]:
    return sorted({example.extra[column] for example in training_data().examples})


def bench_of(**changes):
    """A learner for this session alone, in the initial state of `finetune` with these settings."""
    from minibert.finetune.option_effects import FreshLearner
    from minibert.finetune.settings import FinetuneSettings

    with st.spinner(_("Building the model …")):
        return FreshLearner.of(CHECKPOINTS / model(), TASK, training_data(), FinetuneSettings(**changes))


def example_of(text: str, label: str, **extra: str):
    from minibert.tasks import Example

    return Example(text, label, extra)


def label_choice() -> str:
    return choice("label", _("Its label"), {"positive": _("positive"), "negative": _("negative")})
