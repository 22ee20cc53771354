"""What flow and whitening gain on STS-B in the papers and here; and their code."""

from collections.abc import Sequence

import streamlit as st

from sections.cone.subject import Inputs
from ui.claim import seeds_in_words, show_claim, show_provenance
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    claims = {"plain": _("a network that was only pre-trained"), "learned": _("one that has learned from pairs")}
    claim = choice("claim", _("Vectors of"), claims)
    show_claim(f"cone-{claim}", "spearman", _("STS-B test, Spearman × 100"), recorded)
    lesson.show("Why it comes out so" if claim == "plain" else "Where there is no cone left")


def recorded(records: Sequence[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    words = _(
        "The encoder is frozen: {start}. Whitening is fitted on, and a flow learns for {steps} steps of {batch} from "
        "the sentences of STS-B’s training pairs, without their scores; the papers took all sentences, those of the "
        "test too. {n}; what has no chance in it is the same in each."
    ).format(
        start=literal(last["pretraining"].get("model", scale["begins_with"])),
        steps=scale["steps"],
        batch=scale["batch_size"],
        n=seeds_in_words(records),
    )
    show_provenance(records, words)


def show_code(lesson: Lesson, inputs: Inputs) -> None:
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
