"""Learning rates by layer: smaller in lower layers, or 0."""

import math

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import bench_of, command, model
from ui.figures import figure
from ui.finetune_settings import rate_text
from ui.lesson import Lesson
from ui.model_cache import load
from ui.page import picture
from ui.predict import predict
from ui.source import show_source
from ui.translations import _, ngettext

HEADING = "Layer rates"
RATE = 3e-4
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@st.cache_data(show_spinner=False, max_entries=200)
def rates_of(decay: float, freeze: int | str, rate: float, start: str) -> list:
    """start: the model, which `bench_of` takes."""
    from minibert.finetune.learning_rates import layer_rates
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    changes = {"layer_decay": decay, "freeze": freeze, "optimization": Optimization(learning_rate=rate)}
    return layer_rates(bench_of(**changes).learner, FinetuneSettings(**changes))


def show(lesson: Lesson, text: str) -> None:
    """Peak learning rates by layer; independent of the text."""
    from plots.stability import layer_rates

    blocks = load(model()).config.num_hidden_layers
    freezes = {
        "none": _("nothing"),
        "embeddings": _("the embeddings"),
        **{
            str(n): ngettext("embeddings and {n} block", "embeddings and {n} blocks", n).format(n=n)
            for n in range(1, blocks + 1)
        },
        "all": _("all of BERT"),
    }
    left, right = st.columns(2, gap="medium")
    with left:
        decay = st.slider(_("Decay a layer"), 0.3, 1.0, 0.8, 0.05, key="decay", bind="query-params")
    with right:
        freeze = st.selectbox(_("Frozen"), list(freezes), format_func=freezes.get, key="freeze")
    frozen = int(freeze) if freeze.isdecimal() else freeze
    results = rates_of(decay, frozen, RATE, model())
    top = results[-1].depth
    names = [_("embeddings"), *(_("block {n}").format(n=n) for n in range(1, top)), _("pooler, new layer")]
    trained, whole = sum(one.weights for one in results if one.rate), sum(one.weights for one in results)
    words = _("; ").join(
        f"{name}{_(': ')}{rate_text(one.rate, 1)}" if one.rate else f"{name}{_(': ')}" + _("frozen")
        for name, one in zip(names, results, strict=True)
    )
    alt = _("Peak learning rate of each layer. {words}. {trained:,} of {whole:,} numbers are trained.").format(
        words=words, trained=trained, whole=whole
    )
    with picture():
        revealed = _guessed(decay, results)
        rates = [one.rate if revealed else None for one in results]
        rates[-1] = results[-1].rate  # the top layer's rate, which the others are multiples of
        fig = layer_rates(names, rates, _("frozen"), _("learning rate at its peak"))
        finding = _("{trained:,} of {whole:,} numbers are trained").format(trained=trained, whole=whole)
        fig.update_layout(title_text=finding)
        figure(fig, alt if revealed else finding, key="rates")
    measured.show({"decay": _("decay 0.8 a layer"), "frozen": _("embeddings and 2 blocks frozen")})
    whole = {"fine-tuned-cls": _("all of BERT trained"), "frozen-cls": _("all of BERT frozen, rate 5e-3")}
    measured.show(whole, "pooling", "minilm-en", "fine-tuned-cls", titled=False)
    lesson.show(HEADING)
    command(f"--layer-decay {decay:g}", f"--freeze {freeze}")
    from minibert.finetune.learner import frozen_modules
    from minibert.finetune.optimizer import finetuning_groups

    show_source(finetuning_groups, find="scale", label=_("How the rates come about"))
    show_source(frozen_modules, label=_("What is frozen"))


def _guessed(decay: float, results: list) -> bool:
    """Ask for the learning rate of the embeddings; True if the rates below the top layer may be shown."""
    layers = results[-1].depth
    rates = {power: RATE * decay**power for power in (0, 1, layers)}
    right = [n for n, rate in enumerate(rates.values()) if math.isclose(rate, results[0].rate, rel_tol=1e-6)]
    if len(right) != 1:  # without decay all options are right, with frozen embeddings none
        return True
    options = [
        f"{decay:g}{str(power).translate(RAISED)} · {rate_text(RATE)} = {rate_text(rate, 1)}"
        for power, rate in rates.items()
    ]
    question = _(
        "Under the new layer: {n} blocks, then the embeddings, each with {decay:g} of the rate above it. "
        "Which rate do the embeddings get?"
    )
    return predict("lowest", question.format(n=layers - 1, decay=decay), options, right[0], about=f"{decay} {layers}")
