"""Two settings compared, and the number of runs needed to tell them apart."""

import statistics

import streamlit as st

from minibert.experiments.comparisons import cell
from sections.stability.subject import Inputs, every_cell, name_of, scores_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

MOST_SEEDS_DRAWN = 60


def show(lesson: Lesson, inputs: Inputs) -> None:
    _calculator(inputs.records)
    lesson.show("How many seeds")


@st.fragment
def _calculator(records: list[dict]) -> None:
    scores = {arm: seeds for arm, seeds in scores_of(records).items() if len(seeds) > 1}
    deviation, difference = 2.0, 1.5
    names = {cell(*one): name_of(*one) for one in every_cell()}
    if len(scores) > 1:
        arms = [arm for arm in names if arm in scores]
        left, right = st.columns(2, gap="medium")
        with left:
            a = st.selectbox(_("Setting A"), arms, 0, format_func=names.get, key="setting-a")
        with right:
            b = st.selectbox(_("Setting B"), arms, 1, format_func=names.get, key="setting-b")
        if a == b:
            st.info(_("Choose two settings that differ."))
        else:
            deviation, difference = compare(names, a, b, list(scores[a].values()), list(scores[b].values()))
    st.markdown("### " + _("How many runs would it take?"))
    left, right = st.columns(2, gap="medium")
    with left:
        true_difference = st.slider(_("True difference, points"), 0.25, 10.0, clamp(difference, 0.25, 10.0), 0.25)
    with right:
        spread = st.slider(_("Standard deviation over seeds, points"), 0.25, 15.0, clamp(deviation, 0.25, 15.0), 0.25)
    from minibert.experiments.seeds import power, seeds_needed
    from plots.stability import power_curve

    needed = seeds_needed(true_difference, spread)
    most = min(max(2 * (needed or MOST_SEEDS_DRAWN), 8), MOST_SEEDS_DRAWN)
    seeds = list(range(2, most + 1))
    chances = [power(true_difference, spread, n) for n in seeds]
    if needed is None:
        alt = _("More than ten thousand runs of each setting would be needed.")
    else:
        alt = _(
            "To find a true difference of {gap:g} points with a chance of 80 %, where runs scatter by {sd:g} points, a "
            "t-test at 5 % needs {n} runs of each setting. With 5 runs of each the chance is {five:.0%}."
        ).format(gap=true_difference, sd=spread, n=needed, five=power(true_difference, spread, 5))
    fig = power_curve(seeds, chances, 0.8, (_("runs of each setting"), _("chance to find it")))
    figure(fig, alt, key="power")
    st.markdown(f"**{alt}**", width=820)
    from minibert.experiments.seeds import gap

    show_source(gap, label=_("Standard error, bootstrap and t-test"))
    show_source(power, label=_("The chance to find a difference"))


def clamp(value: float, low: float, high: float) -> float:
    """Clamp and round to the slider's steps of a quarter."""
    return min(max(round(value * 4) / 4, low), high)


def compare(names: dict[str, str], a: str, b: str, first: list[float], second: list[float]) -> tuple[float, float]:
    """Draw both settings and state the result; → (pooled standard deviation, absolute difference)."""
    from minibert.experiments.seeds import gap, standard_error
    from plots.stability import two_groups

    results = gap(first, second)
    labels = (_("A: {name}").format(name=names[a]), _("B: {name}").format(name=names[b]))
    groups = dict(zip(labels, (first, second), strict=True))
    intervals = {name: (statistics.fmean(values), standard_error(values)) for name, values in groups.items()}
    fig = two_groups(groups, intervals, _("dev accuracy"))
    means = _("; ").join(
        _("{name}: {mean:.1f} ± {error:.1f}").format(name=name, mean=mean, error=error)
        for name, (mean, error) in intervals.items()
    )
    alt = _("Runs of two settings, with mean ± standard error. {means}.").format(means=means)
    figure(fig, alt, key="two")
    signed = f"{results.mean:+.1f}".replace("-", "−")
    low, high = (f"{value:+.1f}".replace("-", "−") for value in (results.low, results.high))
    verdict = (
        _("the interval leaves out zero: these runs tell the settings apart")
        if results.clear
        else _("zero is inside: these runs do not tell the settings apart")
    )
    welch = "" if results.welch is None else _(" Welch’s t-test: p = {p:.2g}.").format(p=results.welch)
    st.markdown(
        _("**B − A: {gap} points**, standard error {error:.1f}; bootstrap 95 %: {low} … {high} – {said}.").format(
            gap=signed, error=results.error, low=low, high=high, said=verdict
        )
        + welch,
        width=820,
    )
    pooled = ((statistics.variance(first) + statistics.variance(second)) / 2) ** 0.5
    return pooled, abs(results.mean)
