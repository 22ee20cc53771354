"""The relatives of BERT, one file each, with only what differs from BERT: its name is the `model_type`, its `RELATIVE`
the difference. Whoever has a config and does not know whose it is builds its model here.

This file imports no torch: pages and the command line ask it for configs and names alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from minibert.config import BertConfig
from minibert.relatives.base import Relative
from minibert.text.json_values import json_object, short

if TYPE_CHECKING:
    from torch import nn

    from minibert.count import Shape
    from minibert.model import Components
    from minibert.objectives import Objective

BERT = Relative("BERT", BertConfig)


def model_types() -> list[str]:
    """Those of BERT and of all its relatives."""
    return ["bert", *sorted(found.name for found in iter_modules(__path__) if found.name != "base" and not found.ispkg)]


def check_model_type(model_type: object) -> None:
    """Raise ValueError, which lists `model_types`, for an unknown one."""
    if model_type not in model_types():
        known = ", ".join(model_types())
        raise ValueError(f"model_type is {short(model_type)}, which is not known here; known are {known}")


def relative_named(model_type: str) -> Relative:
    """The relative of a model_type. Raises ValueError, which lists `model_types`, for an unknown one."""
    check_model_type(model_type)
    return BERT if model_type == "bert" else import_module(f"minibert.relatives.{model_type}").RELATIVE


def relative_of(config: BertConfig) -> Relative:
    return relative_named(config.model_type)


def components_of(config: BertConfig) -> Components:
    """What the model of this config is made of."""
    from minibert.model import Components

    return Components(model_type=config.model_type, **relative_of(config).components)


def build(config: BertConfig, kind: Callable[..., nn.Module] | None = None, **options: Any) -> Any:
    """The model of this config, with random weights: its `Bert`, or a model of another `kind` with these options."""
    from minibert.model import Bert

    return (kind or Bert)(config, components=components_of(config), **options)


def objective_for(config: BertConfig, **options: Any) -> Objective:
    """What a model of this config is pre-trained on: BERT's own objective with these options (`masking`,
    `second_weight`), or what its relative makes of them."""
    from minibert.objectives import MaskedLanguageModel

    return (relative_of(config).objective or MaskedLanguageModel)(**options)


def shape_of(config: BertConfig) -> Shape:
    """What counting needs to know of the model of this config."""
    from minibert.count import Shape

    return (relative_of(config).shape or Shape)(config)


def config_from(values: Mapping[str, Any]) -> BertConfig:
    """The config from the values of a config.json. Raises ValueError for an unknown model_type, and for settings that
    its model does not implement."""
    model_type = values.get("model_type", "bert")
    if model_type == "ernie" and values.get("use_task_id"):  # as transformers calls it
        model_type = "ernie2"
    return relative_named(model_type).config.from_dict(values)


def config_from_file(path: str | Path) -> BertConfig:
    """`config_from` of a file. Errors name it."""
    values = json_object(path)
    try:
        return config_from(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
