"""The claim: what flow and whitening gain on STS-B in the papers, and from the shipped checkpoints."""

from collections.abc import Sequence

from sections.cone.subject import Inputs
from ui.claim import seeds_in_words, show_claim, show_provenance
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    claims = {"plain": _("a network that only filled blanks"), "learned": _("one that has learned from pairs")}
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
