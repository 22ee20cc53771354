"""The code: whitening, a flow's parts, and the command line."""

import streamlit as st

from sections.cone.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.sentence_vectors.anisotropy import plane
    from minibert.sentence_vectors.flow import ActNorm, Coupling
    from minibert.sentence_vectors.whitening import Whitening

    lesson.show("The code", title=False)
    show_source(Whitening, "def ", label=_("Whitening: all of it"))
    show_source(Coupling, "def ", label=_("A coupling of the flow"))
    show_source(ActNorm, label=_("And what stands before each"))
    show_source(plane, label=_("The plane of the picture"))
    lesson.show("Take it away")
    st.code(
        "python -m minibert whiten --data sentences.txt --layers first-last --dimensions 128 --out white\n"
        "python -m minibert embed --model white --file questions.txt --out questions.npy\n"
        'python -m minibert search --model white --file questions.txt "I forgot my password"\n'
        "python -m minibert serve --model white",
        "bash",
    )
    lesson.show("What became of it")
