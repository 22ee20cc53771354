"""What a file of this folder says of its relative of BERT, as `RELATIVE`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from minibert.config import BertConfig

if TYPE_CHECKING:
    from torch import Tensor, nn

    from minibert.count import Shape
    from minibert.objectives import Objective


@dataclass(frozen=True)
class Relative:
    """A model of the family, as far as it differs from BERT.

    title: for people · config: its class · prefix: of its class names, and encoder: of its weights' names, in
    transformers; by default its model_type · components: fields of `model.Components` · objective: keyword arguments of
    BERT's objective → its own · names: (ours, theirs) patterns of weights, before BERT's · heads: class name without
    prefix → class that replaces BERT's · layout: (to stored, from stored), functions of a weight · head_names: patterns
    of one class, before all others · shape: config → `count.Shape` · about: half a line for a page; fields of its
    config stand in braces · in_transformers: whether transformers 5 has it.
    """

    title: str
    config: type[BertConfig]
    prefix: str = ""
    encoder: str = ""
    components: Mapping[str, Any] = field(default_factory=dict)
    objective: Callable[..., Objective] | None = None
    names: tuple[tuple[str, str], ...] = ()
    heads: Mapping[str, type[nn.Module]] = field(default_factory=dict)
    layout: tuple[Callable[[str, Tensor, Any], Tensor], Callable[[str, Tensor, Any], Tensor]] | None = None
    head_names: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    shape: Callable[[Any], Shape] | None = None
    about: str = ""
    in_transformers: bool = True

    def __post_init__(self) -> None:
        name = self.config.model_type
        object.__setattr__(self, "prefix", self.prefix or name.title().replace("_", ""))
        object.__setattr__(self, "encoder", self.encoder or name)
