"""Which relatives of BERT there are, by `model_type`: config.json → sizes, and what a model of these sizes is made of.

A relative is a file of this folder that calls `relative`; the file's name is its model_type. Everything that builds a
model does so from its config, and the config's model_type leads here, so a relative stays what it is wherever it goes.
This file imports nothing that a model is made of: `minibert.model` reads it.
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

    model_type, prefix, encoder: its name in config.json, before the names of its classes in transformers, and of the
    encoder in these · config: its sizes · parts: keyword arguments of `Bert` · objective: keyword arguments of BERT's
    objective → its own · names: (ours, theirs) patterns of weights, read before BERT's · heads: classes of its own in
    the place of BERT's, by what stands behind the prefix in their names · head_names: patterns of one such class, read
    before all others · summary: width → what a head lays between [CLS] and its new layer · shape: config → what
    `count` counts · about: what it is, in half a line for the reader of a page; fields of its config stand in braces ·
    in_transformers: whether transformers 5 has it.
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
    """BERT's own, and those of all relatives."""
    files = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return ["bert", *sorted(name for name in files if name != "registry")]


def relative_named(model_type: str) -> Relative:
    """Raises ValueError, which says what there is, for a model_type that is none of `model_types`."""
    if model_type not in model_types():
        known = ", ".join(model_types())
        raise ValueError(f"model_type is {short(model_type)}, which is not known here; known are {known}")
    if model_type not in _registered:  # BERT's own stands here: it differs in nothing
        import_module(f"minibert.relatives.{model_type}")
    return _registered[model_type]


def relative_of(config: BertConfig) -> Relative:
    return relative_named(config.model_type)


def parts_of(config: BertConfig) -> Mapping[str, Callable]:
    """What stands in the place of BERT's own parts: keyword arguments of `Bert`."""
    return {} if config.model_type == "bert" else relative_of(config).parts


def config_from(values: Mapping[str, Any]) -> BertConfig:
    """The sizes in the values of a config.json. Raises ValueError for an unknown model_type, and for what would change
    the model and is unknown."""
    return relative_named(values.get("model_type", "bert")).config.from_dict(values)


def config_from_file(path: str | Path) -> BertConfig:
    """`config_from` of a file. Errors name it."""
    values = json_object(path)
    try:
        return config_from(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
