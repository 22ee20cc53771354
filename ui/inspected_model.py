"""The model that a lesson inspects: its weights, its tokenizer, and the names of its heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ui.model_cache import load, version_of
from ui.model_registry import title_of
from ui.translations import _

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
