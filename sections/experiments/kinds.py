"""Accuracy by kind of determined word for each arm, and examples of the task."""

import statistics
from functools import cache

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference
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
    recorded = {metric for record in inputs.records for metric in record["metrics"]}
    metrics = [metric for kind in kind_words() if (metric := PREFIX + kind) in recorded]  # not sums over kinds
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
    title = _title(names, inputs.base, lines)
    fig = by_kind(
        {names[arm]: kinds for arm, kinds in lines.items()},
        {kind: words[kind] for kind in order},
        _("right, percent, each hidden alone"),
        title=title,
    )
    table = [
        {_("kind"): words[kind], **{names[arm]: f"{found[kind]:.0f}" for arm, found in means.items()}} for kind in order
    ]
    said = _("; ").join(
        f"{row[_('kind')]}{_(': ')}"
        + _(", ").join(f"{name} {value}" for name, value in row.items() if name != _("kind"))
        for row in table
    )
    figure(fig, _("{title}. {told}.").format(title=title, told=said), key="kinds", data=table)
    st.caption(
        _(
            "A bar is the mean over seeds, a dot a seed. Clearly: the 95 % interval of the difference over the seeds "
            "leaves out 0."
        )
    )


def _title(names: dict[str, str], base: str, lines: dict[str, dict[str, dict[int, float]]]) -> str:
    """How many differences to the base, of an arm in a kind, are more than the seeds explain."""
    others = [arm for arm in lines if arm != base and base in lines]
    if not others:
        return _("Determined words by kind")
    gaps = [paired_difference(lines[arm][kind], lines[base][kind]) for arm in others for kind in lines[base]]
    clear = [gap.mean > 0 for gap in gaps if gap and gap.clear]
    who = f"“{names[others[0]]}”" if len(others) == 1 else _("{n} arms").format(n=len(others))
    return _("{who} against “{base}”: clearly ahead in {ahead} of {n} comparisons, clearly behind in {behind}").format(
        who=who, base=names[base], n=len(gaps), ahead=sum(clear), behind=len(clear) - sum(clear)
    )


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
