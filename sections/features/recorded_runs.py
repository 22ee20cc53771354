"""The central picture: every recorded arm beside the paper's numbers and the user's own runs; the same in numbers."""

import statistics
from functools import partial

import streamlit as st

from minibert.experiments.claims import levels, tables, values
from sections.features.subject import PAPER, Inputs, arm_names, metric_of, own_scores
from ui.claim import in_words, show_claims
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.predict import predict
from ui.recorded import comparison, recorded, show_missing_results
from ui.text import literal, one_by_one
from ui.translations import _

GAINS = (3.0, 0.0)  # points; lower bounds of the first two options


def show(inputs: Inputs) -> None:
    name = inputs.shown
    with picture():
        records, made = recorded(name), comparison(name)
        if not records:
            show_missing_results(name)
            return
        from plots.experiments import Score, scores

        key, title = metric_of(made)
        scores_by_arm, names = values(records, key), arm_names(name)
        theirs = {} if name == "pooling" else PAPER["values"]
        own = own_scores(name) if name == inputs.name else {}
        revealed = _guessed(name, scores_by_arm)
        arms = [a for a in names if a in scores_by_arm and (revealed or not _tuned(name, a))]
        rows = [Score(names[a], theirs.get(a), scores_by_arm[a], tuple(own.get(a, ()))) for a in arms]
        words = _("; ").join(
            _("{arm}: {mean} ± {sd}").format(arm=row[_("arm")], mean=row[_("ours, mean")], sd=row[_("sd")])
            for row in table_of(inputs)
            if revealed or row[_("arm")] in {names[a] for a in arms}
        )
        fig = partial(
            scores,
            rows,
            (_("The paper"), _("Ours")),
            (in_words(PAPER["name"]), title),
            _("seed"),
            title=finding(name, {a: scores_by_arm[a] for a in arms}),
            own=_("your run"),
            floor=levels(name, key, records)[0] if name in tables() else None,
        )
        alt = _("{metric} of every arm, mean and standard deviation over seeds. {words}.").format(
            metric=title, words=words
        )
        figure(fig, alt, key=f"scores-{name}", data=(lambda: table_of(inputs)) if revealed else None)
    last, source = records[-1], literal(in_words(tables()["features"]["source"]))
    st.caption(
        _(
            "A dot is a seed; the line is their mean, the bar one standard deviation; a star is a run of yours. "
            "{train:,} sentences to train on, measured on {dev:,}, from {model}. {theirs}Made with: {command}"
        ).format(
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            theirs=_("Left: {source}; the scales differ. ").format(source=source) if theirs else "",
            command=f"`{last['command']}`",
        )
    )


def _tuned(name: str, arm: str) -> bool:
    """Whether the arm fine-tunes all of BERT from the checkpoint."""
    return arm != "random" and comparison(name).values(arm).get("freeze") != "all"


def _best(name: str, found: dict[str, dict[int, float]]) -> tuple[dict[str, float], list[str]]:
    """(mean of each arm; the best fine-tuned and the best frozen arm, where they exist)."""
    means = {arm: statistics.fmean(seeds.values()) for arm, seeds in found.items()}
    tuned = [arm for arm in means if _tuned(name, arm)]
    frozen = [arm for arm in means if arm not in tuned and arm != "random"]
    return means, [max(arms, key=means.get) for arms in (tuned, frozen) if arms]


def _guessed(name: str, found: dict[str, dict[int, float]]) -> bool:
    """Ask what fine-tuning gains; True if the fine-tuned arms may be shown."""
    from minibert.experiments.results import paired_difference

    means, best = _best(name, found)
    if len(best) < 2:
        return True
    gain = paired_difference(found[best[0]], found[best[1]])
    options = [_("over 3"), _("up to 3"), _("it is behind"), _("these runs cannot tell")]
    right = next((i for i, least in enumerate(GAINS) if gain and gain.mean > least), len(GAINS))
    if gain is None or not gain.clear:
        right = len(options) - 1
    question = _("How many points is fine-tuning ahead?")
    return predict("gain", question, options, right, about=f"{name} {means}")


def finding(name: str, found: dict[str, dict[int, float]]) -> str:
    """The best fine-tuned and the best frozen arm, as a title."""
    means, best = _best(name, found)
    if best and not any(_tuned(name, arm) for arm in best):
        return _("Highest mean with BERT frozen: {arm}, {score:.1f}").format(
            arm=arm_names(name)[best[0]], score=means[best[0]]
        )
    words = " · ".join(f"{arm_names(name)[arm]} {means[arm]:.1f}" for arm in best)
    return words[:1].upper() + words[1:]


def table_of(inputs: Inputs) -> list[dict]:
    """One row per arm: its scores and its cost."""
    name, records = inputs.shown, recorded(inputs.shown)
    found, names = values(records, metric_of(comparison(name))[0]), arm_names(name)
    theirs = {} if name == "pooling" else PAPER["values"]
    cost = {record["arm"]: record for record in records}
    return [
        {
            _("arm"): names[arm],
            **({_("paper"): f"{theirs[arm]:.1f}" if arm in theirs else "–"} if theirs else {}),
            _("ours, mean"): f"{statistics.fmean(found[arm].values()):.1f}",
            _("sd"): f"{statistics.stdev(found[arm].values()):.1f}" if len(found[arm]) > 1 else "–",
            _("seeds"): len(found[arm]),
            _("numbers trained"): f"{cost[arm]['trained']:,}",
            _("core seconds a run"): f"{statistics.median(r['seconds'] for r in records if r['arm'] == arm):.0f}",
        }
        for arm in names
        if arm in found
    ]


def show_numbers(lesson: Lesson, inputs: Inputs) -> None:
    if records := recorded(inputs.shown):
        st.table(table_of(inputs))
        found = values(records, metric_of(comparison(inputs.shown))[0])
        findings(inputs.shown, found, arm_names(inputs.shown))
        if inputs.tagging:
            show_claims(inputs.shown, records)
    lesson.show("What came out" if inputs.tagging else "Sentences")
    lesson.show("How to read these numbers")
    if inputs.tagging:
        lesson.show("Against the paper")


def findings(name: str, found: dict[str, dict[int, float]], names: dict[str, str]) -> None:
    """The best frozen arm against the best fine-tuned one, in a sentence."""
    from minibert.experiments.results import paired_difference

    made = comparison(name)
    frozen = [arm for arm in found if made.values(arm).get("freeze") == "all"]
    tuned = [arm for arm in found if arm not in frozen and arm != "random"]
    if not (frozen and tuned):
        return
    best, base = (max(arms, key=lambda arm: statistics.fmean(found[arm].values())) for arms in (frozen, tuned))
    ours = paired_difference(found[best], found[base])
    if ours is None or ours.half is None:
        return
    gap = f"{ours.mean:+.1f} ± {ours.half:.1f}".replace("-", "−")
    text = _(
        "Best frozen arm here: **{best}**, {gap} points against **{base}** (95 % interval over {n} seeds)."
    ).format(best=literal(names[best]), gap=gap, base=literal(names[base]), n=ours.seeds)
    if name != "pooling":
        printed = PAPER["values"]
        their_best = max((arm for arm in printed if arm != "fine-tuned"), key=printed.get)
        theirs = f"{printed[their_best] - printed['fine-tuned']:+.1f}".replace("-", "−")
        text = one_by_one(text, _("In the paper: {arm}, {gap}.").format(arm=literal(names[their_best]), gap=theirs))
    st.markdown(text, width=820)
