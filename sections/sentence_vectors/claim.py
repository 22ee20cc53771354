"""The claims: correlation of cosines with human scores, in papers and from mini-en; SimBERT's two losses."""

import streamlit as st

from sections.sentence_vectors import write_recorded
from sections.sentence_vectors.subject import Subject
from ui.claim import made_with, show_claim
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, seen: Subject) -> None:
    claims = {"vectors": _("Sentence-BERT and SimCSE"), "inference": _("With labels"), "simbert": "SimBERT"}
    claim = choice("claim", _("The claim"), claims, bare=True)
    if claim == "simbert":
        lesson.show("Each loss alone", title=False)
        write_recorded.show()
        return
    lesson.show("The claim", title=False)
    made = recorded if claim == "vectors" else recorded_of_inference
    show_claim(lesson, "spearman", _("STS-B test, Spearman × 100"), claim, made)
    lesson.show("Why it comes out so" if claim == "vectors" else "Why labels help so little")


def recorded(records: list[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    seeds = len({record["seed"] for record in records})
    seconds = {record["arm"]: record["seconds"] for record in records}
    st.caption(
        _("All begin with {start}; what learns, does so for {steps} steps of {batch} rows ({n}), from the training "
          "pairs of STS-B: SimCSE from their sentences alone, “cosine” from the scores too. Processor seconds: "
          "{seconds}. {processor}, torch {torch}, {date}. Made with: {command}").format(
            start=literal(scale["begins_with"]),
            steps=scale["steps"],
            batch=scale["batch_size"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            seconds=", ".join(f"{literal(arm)} {value:.0f}" for arm, value in seconds.items()),
            **made_with(last),
        )
    )  # fmt: skip


def recorded_of_inference(records: list[dict]) -> None:
    """The caption for the arms that learn from inference pairs, each with its own number of steps."""
    last, scale = records[-1], records[-1]["scale"]
    seeds = len({record["seed"] for record in records})
    told = {record["arm"]: record for record in records if "pairs" in record["pretraining"]}
    st.caption(
        _("All begin with {start}; what learns reads batches of {batch} rows ({n}): {arms}. Steps and learning rates "
          "were chosen on STS-B’s dev pairs. {processor}, torch {torch}, {date}. Made with: {command}").format(
            start=literal(scale["begins_with"]),
            batch=scale["batch_size"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            arms="; ".join(
                _("{arm} {steps} steps, {seconds:.0f} processor seconds").format(
                    arm=literal(arm), steps=record["steps"], seconds=record["seconds"])
                for arm, record in told.items()
            ),
            **made_with(last),
        )
    )  # fmt: skip
