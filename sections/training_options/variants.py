"""More layers between [CLS] and the output, and losses other than cross-entropy."""

import math
from functools import partial

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import LABELS, bench_of, command, example_of, label_choice
from ui.figures import figure
from ui.finetune_settings import loss_names
from ui.inputs import pick
from ui.lesson import Lesson
from ui.page import drawer, picture
from ui.source import show_source
from ui.translations import _

HEADING = "Other classifiers"
LOSSES_HEADING = "Other losses"
SHOWN = ("focal", "label_smoothing", "cross_entropy")  # without class weights: one example cannot show their effect
PROBABILITIES = [n / 100 for n in range(1, 100)]


def show(lesson: Lesson, text: str) -> None:
    columns = st.columns((3, 4, 4, 5, 4), gap="medium", vertical_alignment="bottom")
    activations, norms = ("tanh", "gelu", "relu"), ("none", "batch", "layer")
    with columns[0]:
        depth = st.slider(_("Layers"), 1, 4, 2, key="depth", bind="query-params")
    with columns[1]:
        activation = activations[pick("activation", _("Between them"), ["tanh", "GELU", "ReLU"])]
    with columns[2]:
        norm = norms[pick("norm", _("Norm"), [_("none"), _("batch norm"), _("layer norm")])] if depth > 1 else "none"
    with columns[3]:
        names = loss_names()
        loss = SHOWN[pick("loss", _("Loss"), [names[one] for one in SHOWN])]
    with columns[4], drawer(key="more", holds=("gamma",)):
        label = label_choice()
        gamma = st.slider(_("Its exponent γ"), 0.0, 5.0, 2.0, 0.5, key="gamma") if loss == "focal" else 2.0
    form = {"classifier_depth": depth, "classifier_activation": activation, "classifier_norm": norm}
    bench = bench_of(**form, loss=loss, focal_gamma=gamma)
    from minibert.finetune.option_effects import label_probability

    p = label_probability(bench, example_of(text, label))
    from plots.training_options import loss_curves

    curves = {names[name]: losses_at(name, gamma) for name in dict.fromkeys(("cross_entropy", loss))}
    usual, chosen = loss_at("cross_entropy", p, gamma), loss_at(loss, p, gamma)
    finding = _("The loss of a right answer at {p:.2f} is {chosen:.3f}; with cross-entropy {usual:.3f}").format(
        p=p, chosen=chosen, usual=usual
    )
    axes = (_("probability of the right class"), _("loss"))
    with picture():
        left, right = st.columns((5, 3), gap="medium")
        with left:
            figure(partial(loss_curves, PROBABILITIES, curves, (p, chosen), axes, finding), finding, key="loss-curves")
        with right:
            _layers(bench)
    measured.show(
        {"layers": _("2 layers, tanh between"), "focal": _("focal loss, γ = 2"), "smoothing": _("label smoothing")}
    )
    lesson.show(HEADING)
    lesson.show(LOSSES_HEADING)
    more = [f"--classifier-activation {activation}", f"--classifier-norm {norm}"] if depth > 1 else []
    command(
        f"--classifier-depth {depth}", *more, f"--loss {loss}", f"--focal-gamma {gamma:g}" if loss == "focal" else ""
    )
    from minibert.finetune.classifiers import class_loss, classifier

    show_source(classifier, label=_("The layers"))
    show_source(class_loss, label=_("The losses"))


def _layers(bench) -> None:
    """Each layer of the classifier with its number of weights, from the input up."""
    model = bench.learner.model
    rows, width = [], model.width
    parts = list(model.classifier) if model.options.depth > 1 else [model.classifier]
    for part in parts:
        width = getattr(part, "out_features", width)
        count = sum(weight.numel() for weight in part.parameters())
        rows.append({_("layer"): type(part).__name__, _("out"): width, _("numbers"): f"{count:,}"})
    st.dataframe(rows, hide_index=True, key="layers")
    total = sum(weight.numel() for weight in model.classifier.parameters())
    words = _("**{total:,} new numbers** from {width} to {outputs}; one layer alone has {one:,}.")
    st.markdown(words.format(total=total, width=model.width, outputs=len(LABELS), one=(model.width + 1) * len(LABELS)))


def losses_at(loss: str, gamma: float) -> list[float]:
    return [loss_at(loss, p, gamma) for p in PROBABILITIES]


@st.cache_data(show_spinner=False, max_entries=5_000)
def loss_at(loss: str, p: float, gamma: float) -> float:
    """The loss of two classes if the right one has probability p, computed by the training code."""
    import torch

    from minibert.finetune.classifiers import class_loss

    logits = torch.tensor([[math.log(p), math.log(1 - p)]])
    return class_loss(loss, None, gamma)(logits, torch.tensor([0])).item()
