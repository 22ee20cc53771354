"""SimBERT's two losses, alone and together: recorded results on LCQMC."""

import streamlit as st

from minibert.experiments import claims
from ui.claim import mean_and_sd, records_of, seeds_in_words, show_missing_results, show_provenance, show_verdicts
from ui.text import literal
from ui.translations import _

EXPERIMENT = "simbert"


def show() -> None:
    records, names = records_of(EXPERIMENT), claims.tables()[EXPERIMENT]["arms"]
    if not records:
        show_missing_results(EXPERIMENT)
        return
    last, scale = records[-1], records[-1]["scale"]
    found, nats = (claims.values(records, metric) for metric in ("found", "nats"))
    share, cost = _("found, of {n:,}, in percent").format(n=scale["asked"]), _("nats a token of what is written")
    st.table(
        [
            {
                _("learned"): words,
                share: mean_and_sd(found.get(arm, {}).values()),
                cost: mean_and_sd(nats.get(arm, {}).values(), 2),
            }
            for arm, words in names.items()
        ]
    )
    show_verdicts(claims.judged(EXPERIMENT, records), names)
    words = _(
        "Mean ± sd. From {start}, {steps} steps of {batch} pairs ({n}); learned from {learned:,} pairs of LCQMC’s "
        "development set that ask the same, asked of the first ones of its test set."
    ).format(
        start=literal(scale["begins_with"]),
        steps=scale["steps"],
        batch=scale["batch_size"],
        n=seeds_in_words(records),
        learned=last["examples"]["lcqmc"],
    )
    show_provenance(records, words)
