"""The claims: correlation of cosines with human scores, in papers and from mini-en; SimBERT's two losses."""

from collections.abc import Sequence

from sections.sentence_vectors import write_recorded
from sections.sentence_vectors.subject import Inputs
from ui.claim import seconds_in_words, seeds_in_words, show_claim, show_provenance
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    claims = {"vectors": _("Sentence-BERT and SimCSE"), "inference": _("With labels"), "simbert": "SimBERT"}
    claim = choice("claim", _("The claim"), claims, bare=True)
    if claim == "simbert":
        lesson.show("Each loss alone", title=False)
        write_recorded.show()
        return
    lesson.show("The claim", title=False)
    made = recorded if claim == "vectors" else recorded_of_inference
    show_claim(f"sentence_vectors-{claim}", "spearman", _("STS-B test, Spearman × 100"), made)
    lesson.show("Why it comes out so" if claim == "vectors" else "Why labels help so little")


def recorded(records: Sequence[dict]) -> None:
    scale = records[-1]["scale"]
    words = _(
        "All begin with {start}; what learns, does so for {steps} steps of {batch} rows ({n}), from the training pairs "
        "of STS-B: SimCSE from their sentences alone, “cosine” from the scores too. Processor seconds: {seconds}."
    ).format(
        start=literal(scale["begins_with"]),
        steps=scale["steps"],
        batch=scale["batch_size"],
        n=seeds_in_words(records),
        seconds=seconds_in_words(records),
    )
    show_provenance(records, words)


def recorded_of_inference(records: Sequence[dict]) -> None:
    """The caption for the arms that learn from inference pairs, each with its own number of steps."""
    scale = records[-1]["scale"]
    told = {record["arm"]: record for record in records if "pairs" in record["pretraining"]}
    words = _(
        "All begin with {start}; what learns reads batches of {batch} rows ({n}): {arms}. Steps and learning rates "
        "were chosen on STS-B’s dev pairs."
    ).format(
        start=literal(scale["begins_with"]),
        batch=scale["batch_size"],
        n=seeds_in_words(records),
        arms="; ".join(
            _("{arm} {steps} steps, {seconds:.0f} processor seconds").format(
                arm=literal(arm), steps=record["steps"], seconds=record["seconds"]
            )
            for arm, record in told.items()
        ),
    )
    show_provenance(records, words)
