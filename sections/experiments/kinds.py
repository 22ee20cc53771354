"""Accuracy by kind of determined word for each arm, and examples of the task."""

import statistics
from functools import cache

import streamlit as st

from minibert.experiments.results import by_arm
from sections.experiments.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _

PREFIX = "determined."


def show(lesson: Lesson, inputs: Inputs) -> None:
    """The arms with a pre-training of their own, one bar each per kind; then examples of the task."""
    lines = lines_of(inputs)
    if lines:
        _draw(inputs, lines)
    _examples()
    lesson.show("The toy world as a measure", level=3)


def lines_of(inputs: Inputs) -> dict[str, dict[str, dict[int, float]]]:
    """Arm → kind → seed → percent, for the arms with a pre-training of their own."""
    metrics = {metric for record in inputs.records for metric in record["metrics"] if metric.startswith(PREFIX)}
    lines: dict[str, dict[str, dict[int, float]]] = {}
    for arm in inputs.paper["arms"]:
        if arm.endswith("+bilstm"):  # same pre-training; the BiLSTM is added at fine-tuning
            continue
        for metric in metrics:
            seeds = by_arm(inputs.records, metric).get(arm)
            if seeds:
                points = {seed: 100 * value for seed, value in seeds.items()}
                lines.setdefault(arm, {})[metric.removeprefix(PREFIX)] = points
    return lines


def _draw(inputs: Inputs, lines: dict[str, dict[str, dict[int, float]]]) -> None:
    from plots.experiments import by_kind

    means = {
        arm: {kind: statistics.fmean(seeds.values()) for kind, seeds in kinds.items()} for arm, kinds in lines.items()
    }
    base = means.get(inputs.base) or next(iter(means.values()))
    names, words = inputs.paper["arms"], kind_words()
    order = sorted(base, key=base.get, reverse=True)
    title = _title(names, inputs.base, means)
    fig = by_kind(
        {names[arm]: kinds for arm, kinds in lines.items()},
        {kind: words.get(kind, kind) for kind in order},
        _("right, percent, each hidden alone"),
        title=title,
    )
    table = [
        {_("kind"): words.get(kind, kind), **{names[arm]: f"{found[kind]:.0f}" for arm, found in means.items()}}
        for kind in order
    ]
    said = _("; ").join(
        f"{row[_('kind')]}{_(': ')}"
        + _(", ").join(f"{name} {value}" for name, value in row.items() if name != _("kind"))
        for row in table
    )
    figure(fig, _("{title}. {told}.").format(title=title, told=said), key="kinds", data=table)
    st.caption(_("A bar is the mean over seeds, a dot a seed."))


def _title(names: dict[str, str], base: str, means: dict[str, dict[str, float]]) -> str:
    """In how many kinds each arm is ahead of the base."""
    others = [arm for arm in means if arm != base and base in means]
    if not others:
        return _("Determined words by kind")
    ahead = {arm: sum(means[arm][kind] > means[base][kind] for kind in means[arm]) for arm in others}
    told = _(", ").join(_("“{arm}” in {n}").format(arm=names[arm], n=n) for arm, n in ahead.items())
    return _("Ahead of “{base}”: {told} of {n} kinds of words").format(base=names[base], n=len(means[base]), told=told)


def kind_words() -> dict[str, str]:
    return {
        "name": _("the name said again"),
        "pronoun": _("he, she, it, they"),
        "reflexive": _("himself, herself"),
        "gender": _("girl or boy"),
        "agreement": _("was or were"),
        "thing": _("the same thing again"),
        "colour": _("the colour it has"),
        "possession": _("who has it now"),
        "effect": _("what follows from it"),
        "article": _("a or an"),
    }


@cache
def _three() -> list[tuple[str, str, str]]:
    """(sentence with a gap, story, answer) of the task's first three examples."""
    from minibert.experiments.finetuning import TOY_SEEDS
    from minibert.toy.tasks import meant

    examples = meant(3, TOY_SEEDS[1]).examples
    return [(example.question, example.context, example.answers[0].text) for example in examples]


def _examples() -> None:
    st.markdown("**" + _("The task “who or what is meant”, its first three questions:") + "**")
    for question, story, answer in _three():
        st.markdown(
            f"*{literal(question)}* → **{literal(answer)}**  \n" + literal(story),
            width=820,
        )
