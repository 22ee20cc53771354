"""The test set of a model for head costs, and its answers with heads switched off; cached for all sessions, and for the
models that ship stored as far as the page shows them first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ui import held_out
from ui.first_views import first_view
from ui.inspected_model import HeadPlace, InspectedModel
from ui.model_registry import can_fill
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.cost import ClozeAnswers, HeadCost

LESSON = "attention_explorer"


@st.cache_resource(show_spinner=False, max_entries=16)
def questions(subject: InspectedModel) -> list | None:
    """The test set for head costs: masked words of our sentences, or the labels of our reviews.

    None for a model for which we have no test set.
    """
    from minibert.heads import BertForSequenceClassification
    from minibert.inside.heads import cost as head_cost

    model, tokenizer = subject.model, subject.tokenizer
    kind, longest = held_out.kind_of_text(tokenizer), model.config.longest
    if can_fill(subject.name):
        return head_cost.hidden_words(tokenizer, held_out.texts(kind), longest)
    if isinstance(model, BertForSequenceClassification) and model.problem == "single_label_classification":
        rows = [(text, label) for text, label in held_out.reviews(kind) if label in model.labels]
        if rows and len(rows) == len(held_out.reviews(kind)):
            classes = [model.labels.index(label) for _text, label in rows]
            return head_cost.labelled(tokenizer, [text for text, _label in rows], classes, longest)
    return None


@st.cache_resource(show_spinner=False, max_entries=16)
def means(subject: InspectedModel) -> Any:
    from minibert.inside.explanations.interventions import mean_outputs

    return mean_outputs(subject.model, questions(subject))


@st.cache_resource(show_spinner=False, max_entries=256)
def answers(subject: InspectedModel, off: tuple[HeadPlace, ...], mean: bool) -> ClozeAnswers:
    """The model's answers to all questions with the heads `off`."""
    import torch

    from minibert.inside.heads.cost import ClozeAnswers, without

    def compute() -> dict[str, Any]:
        found = without(subject.model, questions(subject), off, means(subject) if mean else None)
        return {name: values.numpy() for name, values in vars(found).items()}

    stored = first_view(LESSON, "answers", subject.name, [off, mean, *_texts(subject)], compute)
    return ClozeAnswers(**{name: torch.from_numpy(values) for name, values in stored.items()})


@st.cache_resource(show_spinner=False, max_entries=256)
def costs_of_layer(subject: InspectedModel, layer: int, mean: bool) -> list[tuple[HeadCost, HeadCost]]:
    from minibert.inside.heads.cost import HeadCost, layer_costs

    def compute() -> dict[str, Any]:
        replaced = means(subject) if mean else None
        rows = layer_costs(subject.model, questions(subject), layer, answers(subject, (), mean), replaced)
        return {"rows": [[(one.mean, one.error) for one in row] for row in rows]}

    stored = first_view(LESSON, "costs", subject.name, [layer, mean, *_texts(subject)], compute)["rows"]  # (A, 2, 2)
    return [(HeadCost(*map(float, loss)), HeadCost(*map(float, right))) for loss, right in stored]


@st.cache_resource(show_spinner=False, max_entries=16)
def confidences(subject: InspectedModel) -> Any:
    import torch

    from minibert.inside.heads.cost import confidence

    def compute() -> dict[str, Any]:
        return {"shares": confidence(subject.model, questions(subject)).numpy()}

    return torch.from_numpy(first_view(LESSON, "confidences", subject.name, _texts(subject), compute)["shares"])


def _texts(subject: InspectedModel) -> list:
    """What `questions` are made of."""
    kind = held_out.kind_of_text(subject.tokenizer)
    return [held_out.texts(kind)] if can_fill(subject.name) else [held_out.reviews(kind)]


def task_name(subject: InspectedModel) -> tuple[str, str]:
    """What the examples of `questions` are, and the name of their accuracy."""
    from minibert.model import BertForPreTraining

    if isinstance(subject.model, BertForPreTraining):
        kind = {"toy": _("stories of the toy world"), "zh": _("Chinese reviews"), "en": _("English sentences")}
        of = kind[held_out.kind_of_text(subject.tokenizer)]
        return _("hidden words of our {of}").format(of=of), _("Words filled in right")
    return _("reviews held back from training"), _("Reviews judged right")


def signed(value: float, digits: int = 3) -> str:
    """A change, with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")
