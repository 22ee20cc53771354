"""The code: the CRF, the features, the network, and the command line."""

import streamlit as st

from sections.dialogue.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.diet import crf, sparse
    from minibert.diet.model import Diet, LearnedDistances

    lesson.show("The code", title=False)
    show_source(crf, "def ", label=_("The chain: all of `minibert/diet/crf.py`"))
    show_source(sparse, "def ", label=_("Sparse features: all of `minibert/diet/sparse.py`"))
    show_source(LearnedDistances, label=_("Relative attention: NEZHA’s, with learned distances"))
    show_source(Diet, "def forward", label=_("The network"))
    lesson.show("Take it away")
    st.code(
        "python -m minibert train-diet --train train.md --dev dev.md --out my-diet\n"
        'python -m minibert predict --model my-diet "wake me at seven"\n'
        "python -m minibert evaluate --model my-diet --data dev.md\n"
        "python -m minibert serve --model my-diet",
        "bash",
    )
