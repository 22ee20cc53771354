"""The claims: correlation of cosines with human scores, in papers and from mini-en; SimBERT's two losses."""

from collections.abc import Sequence

import streamlit as st

from minibert.experiments import claims
from sections.sentence_vectors.subject import Inputs
from ui.claim import caption_records, mean_and_sd, recorded_or_hint, show_claim, show_verdicts, table_in_words
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    titles = {"vectors": _("Sentence-BERT and SimCSE"), "inference": _("With labels"), "simbert": "SimBERT"}
    claim = choice("claim", _("The claim"), titles, bare=True)
    if claim == "simbert":
        lesson.show("Each loss alone", title=False)
        simbert_losses()
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
    )
    start = literal(scale["begins_with"])
    caption_records(records, words, start=start, steps=scale["steps"], batch=scale["batch_size"])


def recorded_of_inference(records: Sequence[dict]) -> None:
    """The caption for the arms that learn from inference pairs, each with its own number of steps."""
    scale = records[-1]["scale"]
    on_pairs = {record["arm"]: record for record in records if "pairs" in record["pretraining"]}
    words = _(
        "All begin with {start}; what learns reads batches of {batch} rows ({n}): {arms}. Steps and learning rates "
        "were chosen on STS-B’s dev pairs."
    )
    arms = _("; ").join(
        _("{arm} {steps} steps, {seconds:.0f} processor seconds").format(
            arm=literal(arm), steps=record["steps"], seconds=record["seconds"]
        )
        for arm, record in on_pairs.items()
    )
    caption_records(records, words, start=literal(scale["begins_with"]), batch=scale["batch_size"], arms=arms)


def simbert_losses() -> None:
    """SimBERT's two losses, alone and together: recorded results on LCQMC."""
    records, names = recorded_or_hint("simbert"), table_in_words("simbert")["arms"]
    if not records:
        return
    scale = records[-1]["scale"]
    results, nats = (claims.values(records, metric) for metric in ("found", "nats"))
    share, cost = _("found, of {n:,}, in percent").format(n=scale["asked"]), _("nats a token of what is written")
    rows = [
        {
            _("learned"): words,
            share: mean_and_sd(results.get(arm, {}).values()),
            cost: mean_and_sd(nats.get(arm, {}).values(), 2),
        }
        for arm, words in names.items()
    ]
    st.table(rows)
    show_verdicts(claims.judged("simbert", records), names)
    words = _(
        "Mean ± sd. From {start}, {steps} steps of {batch} pairs ({n}); learned from {learned:,} pairs of LCQMC’s "
        "development set with the same meaning; tested on the first ones of its test set."
    )
    caption_records(
        records,
        words,
        start=literal(scale["begins_with"]),
        steps=scale["steps"],
        batch=scale["batch_size"],
        learned=records[-1]["examples"]["lcqmc"],
    )
