"""The average of the weights over the steps of a run."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.training_options import measured
from sections.training_options.bench import LABELS, TASK, command, example_of, model, training_data
from ui.figures import figure
from ui.finetune_settings import rate_text
from ui.inputs import choice
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.translations import _

HEADING = "Mean of the weights"
SHARES = {"1": 1.0, "0.5": 0.5, "0.25": 0.25, "0.1": 0.1}  # name in the link → share
RATES = (1e-4, 3e-4, 1e-3)
RUN = 96  # reviews of the short run: two epochs of 12 steps


@st.cache_data(show_spinner=False, max_entries=100)
def answers_of(text: str, rate: float, start: str) -> dict[float, list[float]]:
    """P("positive") after each step of a short run of the model `start`: key 0 by the current weights, others by their
    mean over a share."""
    from minibert.finetune.option_effects import FreshLearner, probabilities_while_training
    from minibert.finetune.settings import FinetuneSettings
    from minibert.tasks.sampling import spread
    from minibert.train import Optimization

    settings = FinetuneSettings(
        epochs=2,
        batch_size=8,
        max_length=32,
        optimization=Optimization(learning_rate=rate),
        dropout=0.0,  # its masks would come from a generator shared by all sessions
    )
    data = training_data()
    data = data.take(spread(len(data.examples), RUN))
    bench = FreshLearner.of(CHECKPOINTS / start, TASK, data, settings)
    return probabilities_while_training(bench, data, example_of(text, LABELS[0]), settings, list(SHARES.values()))


def show(lesson: Lesson, text: str) -> None:
    """A short run on the course's reviews: predictions on the text by the last weights and by their average."""
    left, right = st.columns(2, gap="medium")
    with left:
        share = SHARES[choice("mean-of", _("Share"), {name: name for name in SHARES})]
    with right:
        rate = st.select_slider(_("Learning rate"), RATES, 1e-3, format_func=rate_text, key="rate")
    from minibert.finetune.option_effects import averaging_weights, mean_change
    from plots import training_options as plots

    with st.spinner(_("Training on {n} reviews …").format(n=RUN)):
        answers = answers_of(text, rate, model())
    last, mean = answers[0], answers[share]
    shares = averaging_weights(share, len(last))
    half = next(n for n in range(1, len(shares) + 1) if sum(shares[-n:]) >= 0.5)
    names = (_("the weights as they are"), _("their mean"))
    alt = _(
        "After {steps} steps the weights as they are give “positive” {last:.3f}, their mean {mean:.3f}. From one step "
        "to the next the first moves by {unrest:.3f} on average, the second by {calm:.3f}."
    ).format(steps=len(last), last=last[-1], mean=mean[-1], unrest=mean_change(last), calm=mean_change(mean))
    counts = _("Half of the mean’s weight lies on the last {half} steps.").format(half=half)
    fig = plots.two_answers(last, mean, names, (_("step"), _("probability of “positive”")))
    calmer = mean_change(last) / mean_change(mean) if mean_change(mean) else 1.0
    fig.update_layout(title_text=_("The mean moves {n:.1f} times less from step to step").format(n=calmer), margin_t=84)
    with picture():
        left, right = st.columns((5, 3), gap="medium")
        with left:
            figure(fig, alt, key="answers")
        with right:
            weights = plots.step_shares(shares, (_("step"), _("counts in the mean")))
            weights.update_layout(title_text=_("Half lies on the last {half} steps").format(half=half), margin_t=84)
            figure(weights, counts, key="shares")
    st.markdown(f"{alt} {counts}", width=820)
    measured.show({"averaging": _("mean of the weights, share 0.5")})
    lesson.show(HEADING)
    command(f"--averaging {share:g}", f"--learning-rate {rate:g}")
    from minibert.training.averaging import running_mean

    show_source(running_mean, find="lerp", label=_("How the mean follows"))
