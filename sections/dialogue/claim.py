"""The paper's statements beside our experiment on ATIS and SNIPS, with paired seeds and seconds; and the code."""

import statistics
from functools import partial

import streamlit as st

from minibert.experiments import claims
from sections.dialogue.subject import Inputs
from ui.claim import (
    of_common_seeds,
    records_of,
    seeds_in_words,
    show_missing_results,
    show_provenance,
    show_verdicts,
    table_in_words,
)
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    records, table = records_of(lesson.name), table_in_words("dialogue")
    if not records:
        show_missing_results(lesson.name)
        return
    measure = choice("measure", _("Measured"), table["measures"], wrap=True)
    picture(table["arms"], claims.values(records, measure), table["measures"][measure])
    show_verdicts(claims.judged("dialogue", records), table["arms"])
    times(records)
    scale = records[-1]["scale"]
    words = _(
        "Of each set {train:,} requests spread over its training file, {epochs} epochs, measured on {test} of its test "
        "file ({n}); ± is half a 95 % interval over the seeds, in pairs. Frozen encoder and start of the joint head: "
        "{start}."
    ).format(
        train=scale["examples"],
        epochs=scale["epochs"],
        test=scale["measured"],
        n=seeds_in_words(records),
        start=literal(scale["begins_with"]),
    )
    show_provenance(records, words)
    lesson.show("Why it comes out so")


def picture(names: dict[str, str], scores_of: claims.Values, title: str) -> None:
    from plots.experiments import Score, scores

    rows = [Score(words, None, scores_of.get(arm, {})) for arm, words in names.items()]
    means = {row.name: statistics.fmean(row.ours.values()) for row in rows if row.ours}
    scores_by_arm = _("; ").join(f"{name} {mean:.1f}" for name, mean in means.items())
    summary = _("{title}: {told}").format(title=title, told=scores_by_arm)
    best = max(means, key=means.__getitem__)
    finding = _("{title}: “{arm}” has the highest mean, {value:.1f}").format(title=title, arm=best, value=means[best])
    figure(
        partial(scores, rows, ("", ""), ("", title), _("seed"), title=finding),
        _("A dot is a seed, the line their mean, the bar one standard deviation. {summary}.").format(summary=summary),
        "scores-claim",
        data=[
            {_("arm"): row.name, _("seed"): seed, title: round(value, 2)}
            for row in rows
            for seed, value in row.ours.items()
        ],
    )


def times(records: list[dict]) -> None:
    """The seconds of training, of BERT and of DIET."""
    records = of_common_seeds(records)
    arms = dict.fromkeys(record["arm"] for record in records)
    seconds = {arm: statistics.fmean(r["seconds"] for r in records if r["arm"] == arm) for arm in arms}
    if {"joint", "both", "sparse"} <= seconds.keys():
        st.markdown(
            _(
                "**Six times faster than BERT?** Here {joint:.0f} s of a core for the joint head on a BERT of 5.5 "
                "million weights, {both:.0f} s for DIET with both features, {sparse:.0f} s without the encoder, as "
                "many epochs each: {times:.1f} times. The paper’s BERT has 110 million."
            ).format(
                joint=seconds["joint"],
                both=seconds["both"],
                sparse=seconds["sparse"],
                times=seconds["joint"] / seconds["both"],
            )
        )


def show_code(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.diet import crf, sparse
    from minibert.diet.model import Diet, LearnedDistances

    lesson.show("The code", title=False)
    show_source(crf, "def ", label=_("The chain: all of `minibert/diet/crf.py`"))
    show_source(sparse, "def ", label=_("Sparse features: all of `minibert/diet/sparse.py`"))
    show_source(LearnedDistances, label=_("Relative attention: NEZHA’s, with learned distances"))
    show_source(Diet, "def forward", label=_("The network"))
    lesson.show("Take it away")
    st.code(
        "python -m minibert train-diet --train train.md --dev dev.md --out my-diet\n"
        'python -m minibert predict --model my-diet "wake me at seven"\n'
        "python -m minibert evaluate --model my-diet --data dev.md\n"
        "python -m minibert serve --model my-diet",
        "bash",
    )
