"""What a switch has changed in our recorded runs: the accuracy with it beside that of the usual settings."""

from collections.abc import Mapping

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.comparisons import REQUIRED
from minibert.experiments.results import paired_difference
from ui.claim import mean_and_sd, records_of, seeds_in_words, show_missing, show_provenance, signed, verdict_words
from ui.text import literal
from ui.translations import _

COMPARED, USUAL = "options", "usual"


def title() -> None:
    st.markdown("### " + _("What it changed, measured"))


def nothing(words: str) -> None:
    """Said of a switch of which no run has been recorded."""
    title()
    st.markdown(words)


def show(arms: Mapping[str, str], table: str = COMPARED, base: str = USUAL) -> None:
    """The accuracy of each of these arms, and its difference to `base` seed by seed. arms: of the table of
    claims.toml → in words, with `base` where that has others than usual settings."""
    title()
    records = records_of(table, REQUIRED)
    accuracies = claims.values(records, "accuracy")
    if base not in accuracies or not accuracies.keys() & arms.keys():
        show_missing(f"python -m minibert experiment {table} --seeds 3")
        return
    judged = {one.claim.arm: one for one in claims.judged(table, records, "accuracy") if one.claim.base == base}
    rows = []
    for arm, words in {base: _("usual settings"), **arms}.items():
        if not (seeds := accuracies.get(arm)):
            continue
        ours, claim = paired_difference(seeds, accuracies[base]) if arm != base else None, judged.get(arm)
        rows.append(
            {
                _("switch"): words,
                _("accuracy, %"): mean_and_sd(seeds.values()),
                _("difference, seed by seed"): f"{signed(ours.mean)} ± {ours.half:.1f}" if ours and ours.half else "–",
                _("what its paper says"): literal(claim.claim.source) if claim else "–",
                _("held against it"): verdict_words()[claim.verdict] if claim else "–",
            }
        )
    st.table(rows)
    last = records[-1]
    words = _(
        "Mean and standard deviation of {n}; the difference with its 95 % interval: one that holds 0 may come from the "
        "seeds. {train:,} texts to train on, measured on {dev:,}, from {model}."
    )
    train, dev, model = last["examples"], last["measured_on"], literal(last["model"])
    show_provenance(records, words.format(n=seeds_in_words(records), train=train, dev=dev, model=model))
