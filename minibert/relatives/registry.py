"""The registry of BERT's relatives by `model_type`: config.json → config, and the parts of its model.

A relative is a file of this folder that calls `relative`; the file's name is its model_type. Models are always built
from a config, whose model_type is looked up here, so that callers need not know which relative they have.
This file imports no part of a model, as `minibert.model` imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from minibert.config import BertConfig
from minibert.text.json_values import json_object, short

if TYPE_CHECKING:
    from torch import Tensor, nn

    from minibert.count import Shape
    from minibert.objectives import Objective


@dataclass(frozen=True)
class Relative:
    """A model of the family, as far as it differs from BERT.

    model_type: in config.json · title: for people · prefix: of its class names, and encoder: of its weights' names, in
    transformers · config: its class · parts: keyword arguments of `Bert` · objective: keyword arguments of BERT's
    objective → its own · names: (ours, theirs) patterns of weights, before BERT's · heads: class name without prefix →
    class that replaces BERT's · layout: (to stored, from stored), functions of a weight · summary: width → layer
    between the pooled vector and a head's new layer · head_names: patterns of one class, before all others · shape:
    config → `count.Shape` · about: half a line for a page; fields of its config stand in braces · in_transformers:
    whether transformers 5 has it.
    """

    model_type: str
    title: str
    prefix: str
    encoder: str
    config: type[BertConfig]
    parts: Mapping[str, Callable] = field(default_factory=dict)
    objective: Callable[..., Objective] | None = None
    names: tuple[tuple[str, str], ...] = ()
    heads: Mapping[str, type[nn.Module]] = field(default_factory=dict)
    layout: tuple[Callable[[str, Tensor, Any], Tensor], Callable[[str, Tensor, Any], Tensor]] | None = None
    summary: Callable[[int], nn.Module] | None = None
    head_names: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    shape: Callable[[Any], Shape] | None = None
    about: str = ""
    in_transformers: bool = True


_registered = {"bert": Relative("bert", "BERT", "Bert", "bert", BertConfig)}


def relative(
    title: str, config: type[BertConfig], *, prefix: str | None = None, encoder: str | None = None, **differences: Any
) -> Relative:
    """Register a relative under its config's `model_type`. differences: further fields of `Relative`."""
    name = config.model_type
    made = Relative(name, title, prefix or name.title().replace("_", ""), encoder or name, config, **differences)
    return _registered.setdefault(name, made)


def model_types() -> list[str]:
    """Those of BERT and of all its relatives."""
    files = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return ["bert", *sorted(name for name in files if name != "registry")]


def relative_named(model_type: str) -> Relative:
    """The relative of a model_type. Raises ValueError, which lists `model_types`, for an unknown one."""
    if model_type not in model_types():
        known = ", ".join(model_types())
        raise ValueError(f"model_type is {short(model_type)}, which is not known here; known are {known}")
    if model_type not in _registered:  # BERT itself is registered above
        import_module(f"minibert.relatives.{model_type}")
    return _registered[model_type]


def relative_of(config: BertConfig) -> Relative:
    return relative_named(config.model_type)


def parts_of(config: BertConfig) -> Mapping[str, Callable]:
    """The parts that replace BERT's own: keyword arguments of `Bert`."""
    return {} if config.model_type == "bert" else relative_of(config).parts


def config_from(values: Mapping[str, Any]) -> BertConfig:
    """The config from the values of a config.json. Raises ValueError for an unknown model_type, and for settings that
    its model does not implement."""
    return relative_named(values.get("model_type", "bert")).config.from_dict(values)


def config_from_file(path: str | Path) -> BertConfig:
    """`config_from` of a file. Errors name it."""
    values = json_object(path)
    try:
        return config_from(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
