"""What a switch has changed in our recorded runs: the accuracy with it beside that of the usual settings."""

from collections.abc import Mapping

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.comparisons import REQUIRED
from minibert.experiments.results import paired_difference
from minibert.folders import results_to_read
from ui.claim import mean_and_sd, records_at, seeds_in_words, signed
from ui.text import literal
from ui.translations import _


def title() -> None:
    st.markdown("### " + _("What it changed, measured"))


def nothing(words: str) -> None:
    """Said of a switch of which no run has been recorded."""
    title()
    st.markdown(words)


def show(
    arms: Mapping[str, str],
    comparison: str = "options",
    start: str = "mini-en",
    base: str = "usual",
    titled: bool = True,
) -> None:
    """The accuracy of each of these arms, and its difference to `base` seed by seed; or that none has been recorded.
    arms: in words, with `base` where that has others than the usual settings · start: the checkpoint."""
    records = records_at(results_to_read(f"{start}/{comparison}.jsonl"), REQUIRED)
    accuracies = claims.values(records, "accuracy")
    if titled:
        title()
    if base not in accuracies or not accuracies.keys() & (arms.keys() - {base}):
        st.markdown(_("Not recorded here yet: {arms}. This records it:").format(arms=_(", ").join(arms.values())))
        st.code(f"python -m minibert experiment {comparison} --seeds 3 --model checkpoints/{start}", "bash")
        return
    rows = []
    for arm, words in {base: _("usual settings"), **arms}.items():
        if seeds := accuracies.get(arm):
            ours = paired_difference(seeds, accuracies[base]) if arm != base else None
            apart = "–" if ours is None or ours.half is None else f"{signed(ours.mean)} ± {ours.half:.1f}"
            if ours and ours.half is not None and ours.half < 0.05:  # the same with each seed by chance, not exact
                apart = _("{mean} with every seed").format(mean=signed(ours.mean))
            accuracy = mean_and_sd(seeds.values())
            rows.append({_("switch"): words, _("accuracy, %"): accuracy, _("difference, seed by seed"): apart})
    st.table(rows)
    last = records[-1]
    words = _(
        "Mean and standard deviation of {n}; the difference with its 95 % interval: one that holds 0 may come from the "
        "seeds. {train:,} texts to train on, measured on {dev:,}, from {model}. Made with: {command}"
    )
    st.caption(
        words.format(
            n=seeds_in_words(records),
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            command=f"`{last['command']}`",
        )
    )
