"""Looking into the heads of a model: what is seen of them, their names, and all of them as small pictures to click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui import attention_views, held_out
from ui.inputs import pick, state
from ui.models import load, title_of, version_of
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.head_kinds import HeadKinds
    from minibert.inside.model_input import ModelInput

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

SMALL = 32  # pixels a side of a small picture at most
DEFAULT = (1, 1)  # the head shown first, if there are so many
THRESHOLD = 40  # percent from which a score names a head

HeadPlace = tuple[int, int]  # layer, head, both from 0


@dataclass(frozen=True)
class Subject:
    """A model looked into. Its version changes with its weights, so that nothing stale is shown."""

    name: str
    version: int

    @classmethod
    def of(cls, name: str) -> Subject:
        return cls(name, version_of(name))

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def model(self) -> Any:
        return load(self.name).model

    @property
    def tokenizer(self) -> Any:
        return load(self.name).tokenizer

    @property
    def shape(self) -> HeadPlace:
        config = load(self.name).config
        return config.num_hidden_layers, config.num_attention_heads

    def head(self, layer: int, head: int) -> HeadPlace:
        """That head, or the last one if there are fewer."""
        layers, heads = self.shape
        return min(layer, layers - 1), min(head, heads - 1)


@st.cache_resource(show_spinner=False, max_entries=6)
def seen(subject: Subject, reading: ModelInput) -> dict[str, Any]:
    """probs (L, A, T, T), query and key (L, A, T, D), float32, shared by all sessions: read only. allowed: (T, T) bool,
    what the mask leaves open · relative_scores: (L, A, T, T), only where distances add to the scores (NEZHA)."""
    import torch

    from minibert.inside.head_arithmetic import allowed
    from minibert.model import Batch

    kept: dict[str, list] = {"probs": [], "query": [], "key": [], "relative_scores": []}

    def watch(name: str, x: Any) -> Any:
        last = name.rpartition(".")[2]
        if ".attn." in name and last in kept:
            kept[last].append(x[0].float())
        return x

    bert = getattr(subject.model, "bert", subject.model)
    batch = Batch(torch.tensor([reading.ids]), torch.tensor([reading.segments]))
    with torch.inference_mode():
        bert(batch, watch)
    found = {name: torch.stack(values) for name, values in kept.items() if values}
    return found | {"allowed": allowed(bert, batch)}


@st.cache_resource(show_spinner=False, max_entries=32)
def measured_kinds(subject: Subject, on: str) -> HeadKinds:
    """Scores of all heads on our sentences ("text") or on stories of the toy world ("toy")."""
    from minibert.inside import head_kinds

    longest = subject.model.config.max_position_embeddings
    if on == "toy":
        read = head_kinds.stories(subject.tokenizer, held_out.toy_stories(), longest)
    else:
        texts = held_out.texts(held_out.kind_of_text(subject.tokenizer))
        read = head_kinds.sentences(subject.tokenizer, texts, longest)
    return head_kinds.measure(subject.model, read)


def head_name(layer: int, head: int) -> str:
    return _("layer {layer}, head {head}").format(layer=layer + 1, head=head + 1)


def kind_names() -> dict[str, str]:
    """Kinds of minibert.inside.head_kinds in the learner's words."""
    return {
        "previous": _("previous token"),
        "next": _("next token"),
        "itself": _("itself"),
        "same_word": _("same word"),
        "sep": "[SEP]",
        "cls": "[CLS]",
        "antecedent": _("true antecedent"),
        "broad": _("broad"),
    }


def short_kind_names() -> dict[str, str]:
    """The same, as they fit under a small picture."""
    return kind_names() | {"previous": _("previous"), "next": _("next"), "antecedent": _("antecedent")}


def all_names(subject: Subject) -> list[str]:
    layers, heads = subject.shape
    return [head_name(layer, head) for layer in range(layers) for head in range(heads)]


def signed(value: float, digits: int = 3) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def pick_head(subject: Subject) -> HeadPlace:
    """Select boxes for layer and head, in the link; a click on a picture moves them."""
    layers, heads = subject.shape
    places = [[_("{n} of {all}").format(n=n + 1, all=count) for n in range(count)] for count in (layers, heads)]
    layer = pick("layer", _("Layer"), places[0], DEFAULT[0], width=130)
    return layer, pick("head", _("Head"), places[1], DEFAULT[1], width=130)


def picked_head(subject: Subject) -> HeadPlace:
    """What `pick_head` says, wherever on the page it stands."""
    return subject.head(
        *(st.session_state.get(state(name), n) for name, n in zip(("layer", "head"), DEFAULT, strict=True))
    )


def small_pictures(
    subject: Subject,
    reading: ModelInput,
    key: str,
    on_click: Callable[[dict], Any],
    labels: Sequence[str] = (),
    *,
    selected: HeadPlace | None = None,
    crossed: Sequence[HeadPlace] = (),
) -> None:
    """Every head as a small picture of its attention in the sentence."""
    from minibert.inside.attention_summary import small_copies
    from plots.attention_payloads import heads_payload

    names = all_names(subject)
    titles = [
        f"{name}: {label}".replace("\n", " ") if label else name
        for name, label in zip(names, labels or names, strict=True)
    ]
    payload = heads_payload(
        small_copies(seen(subject, reading)["probs"], SMALL),
        labels or [""] * len(names),
        titles if labels else names,
        selected=selected,
        crossed=crossed,
    )
    attention_views.show("heads", payload, key, on_click, file="attention-heads")


def open_head(told: dict) -> None:
    st.session_state[state("layer")], st.session_state[state("head")] = max(0, told["layer"]), max(0, told["head"])
