"""The length of the first optimizer steps, with and without bias correction."""

from dataclasses import replace

import numpy as np
import streamlit as st

from minibert.experiments.comparisons import RATES
from sections.stability.subject import Inputs, correction_names, rate_in_words
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    _steps()
    lesson.show("The first steps")


@st.fragment
def _steps() -> None:
    columns = st.columns(3, gap="medium")
    with columns[0]:
        steps = st.slider(_("Steps of the run"), 20, 600, 100, 20, key="steps", bind="query-params")
    with columns[1]:
        warmup = st.slider(_("Warm-up, share of the run"), 0.0, 0.5, 0.1, 0.05, key="warmup", bind="query-params")
    with columns[2]:
        st.session_state.setdefault("peak", RATES[0])
        rate = st.select_slider(_("Learning rate"), RATES, format_func=rate_in_words, key="peak")
    from plots.stability import step_lengths

    with_it, without = lengths(steps, warmup, rate)
    names = correction_names()
    fig = step_lengths(
        with_it, without, (names[True], names[False]), (_("step"), _("length of the step"), _("times too long"))
    )
    factor = [b / a for a, b in zip(with_it, without, strict=True)]
    peak = max(range(steps), key=factor.__getitem__)
    area = sum(without) / sum(with_it)
    alt = _(
        "Without correction the first step is {first:.2f} times as long as it should be, step {at} is {most:.2f} times "
        "as long, and step {n} still {last:.2f} times. The sum of all steps is {area:.1f} times as long."
    ).format(first=factor[0], at=peak + 1, most=factor[peak], n=steps, last=factor[-1], area=area)
    figure(fig, alt, key="lengths")
    st.markdown(f"**{alt}** " + _("Measured on the optimizer itself, with a gradient that is always 1."), width=820)
    from minibert.finetune.learning_rates import step_lengths as measured
    from minibert.finetune.optimizer import UncorrectedAdamW

    show_source(UncorrectedAdamW.step, find="lerp_", label=_("Adam without the correction, as in the original code"))
    show_source(measured, label=_("How the lengths were measured"))


@st.cache_data(show_spinner=False, max_entries=200)
def lengths(steps: int, warmup: float, rate: float) -> tuple[list[float], list[float]]:
    from minibert.finetune.learning_rates import step_lengths
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    def compute() -> dict[str, np.ndarray]:
        """In units of the learning rate: the files are compared to an absolute tolerance."""
        usual = FinetuneSettings(optimization=Optimization(learning_rate=rate, warmup=warmup))
        ways = {"with": usual, "without": replace(usual, bias_correction=False)}
        return {name: np.array(step_lengths(settings, steps)) / rate for name, settings in ways.items()}

    stored = first_view("stability", "steps", "", [steps, warmup, rate], compute)
    return (rate * stored["with"]).tolist(), (rate * stored["without"]).tolist()
