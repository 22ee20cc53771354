"""Truncation: which tokens are dropped from long texts, and the cost in accuracy."""

import statistics

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import command, model
from ui import recorded
from ui.claim import show_claims
from ui.figures import figure
from ui.lesson import Lesson
from ui.model_cache import load
from ui.page import picture
from ui.source import show_source
from ui.text import literal, show_tokens
from ui.translations import _, pgettext

HEADING = "Truncation"
SCORES = "What a cut costs"
MOST_TOKENS = 120
PAPER = {"head": 5.63, "tail": 5.44, "head_tail": 5.42}  # Sun et al. 2019, table 2: errors on IMDb, in percent
COMPARED = "truncation"


def show(lesson: Lesson, text: str) -> None:
    tokens = load(model()).tokenizer.encode(text, truncation="none").tokens[1:-1][:MOST_TOKENS]
    room = st.slider(_("Places for the text"), 2, 40, 7, key="room", bind="query-params")
    from minibert.text.truncation import keep

    ways = {
        "head": _("**head**: the first {n}"),
        "tail": _("**tail**: the last {n}"),
        "head_tail": _("**head + tail**: a quarter from the start, the rest from the end"),
        "longest_first": _("**longest first**: the longer text loses its end; with one text, the head"),
    }
    with picture():
        for way, words in ways.items():
            kept = set(keep([len(tokens)], room, way)[0])
            st.markdown(words.format(n=room))
            show_tokens(
                tokens,
                kinds=["plain" if i in kept else "faded" for i in range(len(tokens))],
                limit=MOST_TOKENS,
                label=way,
            )
        if len(tokens) <= room:
            st.markdown(_("The text has {n} tokens and fits: nothing is cut.").format(n=len(tokens)))
    measured.title()
    _scores()
    lesson.show(SCORES)
    lesson.show(HEADING)
    command(f"--max-length {room + 2}", "--truncation head_tail", data="verdicts")
    show_source(keep, label=_("What stays"))


def _scores() -> None:
    recorded.start_choice(COMPARED)
    records, made = recorded.recorded(COMPARED), recorded.comparison(COMPARED)
    if not records:
        recorded.show_missing_results(COMPARED)
        return
    from minibert.experiments.results import by_arm
    from plots.experiments import Score, scores

    results = {
        arm: {seed: 100 * value for seed, value in seeds.items()} for arm, seeds in by_arm(records, "accuracy").items()
    }
    ways = {"head": pgettext("of a text", "head"), "tail": _("tail"), "head_tail": _("head + tail")}
    names = {
        arm: _("nothing cut")
        if arm == "whole"
        else _("{way}, {n} tokens").format(way=ways[values["truncation"]], n=values["max_length"])
        for arm in made.arms
        for values in (made.values(arm),)
    }
    rows = [
        Score(names[arm], 100 - PAPER[made.values(arm)["truncation"]] if arm != "whole" else None, results[arm])
        for arm in names
        if arm in results
    ]
    means = {arm: statistics.fmean(seeds.values()) for arm, seeds in results.items()}
    cut = {arm: mean for arm, mean in means.items() if arm != "whole"}
    finding = " · ".join(f"{names[arm]} {mean:.1f}" for arm, mean in sorted(cut.items(), key=lambda one: -one[1]))
    words = _("; ").join(f"{names[arm]}{_(': ')}{means[arm]:.1f}" for arm in names if arm in means)
    alt = _("Accuracy in percent, mean over seeds. {words}.").format(words=words)
    axis = _("accuracy, %")
    titles = (_("Sun et al. 2019, IMDb, 512 tokens"), _("Ours, reviews with a verdict"))
    fig = scores(rows, titles, (axis, axis), _("seed"), title=finding[:1].upper() + finding[1:])
    fig.update_traces(cliponaxis=False)  # else the number above the first row is cut off
    figure(
        fig,
        alt,
        key="cut-scores",
        data=[
            {_("read"): names[arm], _("accuracy"): f"{means[arm]:.1f}", _("seeds"): len(results[arm])}
            for arm in names
            if arm in means
        ],
    )
    last = records[-1]
    st.caption(
        _(
            "A dot is a seed; the line is their mean, the bar one standard deviation. {train:,} reviews to train on, "
            "measured on {dev:,}, from {model}. Left: 100 − the error of table 2; the scales differ. "
            "Made with: {command}"
        ).format(
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            command=f"`{last['command']}`",
        )
    )
    show_claims(COMPARED, records)
