"""The model that a lesson inspects: its weights, its tokenizer, and the names of its heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.inputs import pick
from ui.model_cache import load, version_of
from ui.model_registry import title_of
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput

HeadPlace = tuple[int, int]  # layer, head, both from 0


@dataclass(frozen=True)
class InspectedModel:
    """The model inspected; usable as a cache key, as `version` changes with the weights."""

    name: str
    version: int

    @classmethod
    def of(cls, name: str) -> InspectedModel:
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
        """(layer, head), each clipped to what the model has."""
        layers, heads = self.shape
        return min(layer, layers - 1), min(head, heads - 1)


def head_name(layer: int, head: int) -> str:
    return _("layer {layer}, head {head}").format(layer=layer + 1, head=head + 1)


def pick_head(shape: HeadPlace, default: HeadPlace, width: int) -> HeadPlace:
    """Select boxes for layer and head, stored in the link. shape: how many there are · width: of a box in pixels."""
    labels = {"layer": _("Layer"), "head": _("Head")}
    return tuple(
        pick(name, labels[name], [_("{n} of {all}").format(n=n + 1, all=count) for n in range(count)], at, width=width)
        for name, count, at in zip(labels, shape, default, strict=True)
    )


def word_to_hide(reading: ModelInput, told: str | None = None) -> int | None:
    """The user's choice of a word to hide; default: a typed [MASK], else the word `told`, else the last word of the
    first sentence.

    None, after showing a message, if there are no words.
    """
    if not reading.words:
        st.info(_("There is no word to hide. Type a sentence above."), icon=":material/edit:")
        return None
    first = [at for at, i in enumerate(reading.words) if reading.segments[i] == 0] or [0]
    typed = [at for at in first if reading.tokens[reading.words[at]] == "[MASK]"]
    typed = typed or [at for at in first if reading.tokens[reading.words[at]] == told]
    named = [at for at in first if any(char.isalnum() for char in reading.tokens[reading.words[at]])]
    words = [f"{i + 1} · {reading.tokens[i]}" for i in reading.words]
    with st.container(width=400):
        return reading.words[pick("hide", _("Word to hide"), words, default=(typed or named or first)[-1])]
