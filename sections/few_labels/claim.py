"""The claim: what the methods' papers say of few labels, beside our recorded results in both languages."""

from collections.abc import Sequence

from sections.few_labels.subject import Inputs
from ui.claim import seconds_in_words, seeds_in_words, show_claim, show_provenance
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    count = choice("count", _("Labels"), {"32": "32", "8": "8", "100": "100"})
    metric = "accuracy" if count == "32" else f"accuracy_{count}"
    title = {"en": _("SST-2, accuracy × 100"), "zh": _("ChnSentiCorp, accuracy × 100")}[inputs.language]
    show_claim(f"few_labels-{inputs.language}", metric, title, recorded)
    lesson.show("Why it comes out so")


def recorded(records: Sequence[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    words = _(
        "All begin with {start}; {labels} labels, others with each seed ({n}); measured on {measured} texts of the dev "
        "set. Processor seconds for the three sizes together: {seconds}."
    ).format(
        start=literal(last["pretraining"]["begins_with"]),
        labels=", ".join(map(str, scale["labels"])),
        n=seeds_in_words(records),
        measured=scale["measured"],
        seconds=seconds_in_words(records),
    )
    show_provenance(records, words)
