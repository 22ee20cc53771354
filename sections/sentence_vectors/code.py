"""The code: pooling, the three objectives and the contrastive one, and the command line."""

import streamlit as st

from sections.sentence_vectors.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.heads import pooled
    from minibert.sentence_vectors import objectives
    from minibert.sentence_vectors.encoder import SentenceVectors
    from minibert.sentence_vectors.inference import inference_triples

    lesson.show("The code", title=False)
    show_source(objectives, "def ", label=_("What is learned: all of `minibert/sentence_vectors/objectives.py`"))
    show_source(inference_triples, label=_("Pairs of inference, made triples"))
    show_source(pooled, label=_("Pooling"))
    show_source(SentenceVectors, "def ", label=_("An encoder: texts in, vectors out"))
    lesson.show("Take it away")
    st.code(
        "python -m minibert train-vectors --train sentences.txt --out my-vectors\n"
        "python -m minibert train-vectors --objective simcse-supervised --train pairs.tsv --out my-nli\n"
        "python -m minibert embed --model my-vectors --file questions.txt --out questions.npy\n"
        'python -m minibert search --model my-vectors --file questions.txt "I forgot my password"\n'
        "python -m minibert serve --model my-vectors",
        "bash",
    )
