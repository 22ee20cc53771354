"""Checkpoints that experiments start from; and files of small networks that are no BERT: weights, a description in
JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from minibert import checkpoint
from minibert.checkpoint import CheckpointError, check_finite, existing, writing
from minibert.model import BertForPreTraining
from minibert.training.skip_init import sizes_only

Network = TypeVar("Network", bound=nn.Module)


def load_masked_lm(folder: str | Path) -> BertForPreTraining:
    """A checkpoint with a masked language model's head. Raises ValueError for another."""
    model = checkpoint.load(folder)
    if not isinstance(model, BertForPreTraining):
        raise ValueError(f"{folder} holds no model that was trained on hidden words")
    return model


def save_network(weights: Path, description: Path, state: Mapping[str, Tensor], fields: Mapping[str, Any]) -> None:
    """Write both files, which stand in one folder, atomically."""
    with writing(weights.parent) as folder:
        save_file({name: value.detach().cpu().contiguous() for name, value in state.items()}, folder / weights.name)
        text = json.dumps(fields, ensure_ascii=False, indent=1)
        (folder / description.name).write_text(text + "\n", encoding="utf-8")


def load_network(weights: Path, build: Callable[[], Network]) -> Network:
    """The network that `build` makes, with its weights. Raises ValueError if the shapes differ, before it is built."""
    stored = load_file(existing(weights.parent, weights.name))
    check_finite(stored, weights)
    with sizes_only():
        shapes = {name: x.shape for name, x in build().state_dict().items()}
    if {name: x.shape for name, x in stored.items()} != shapes:
        raise ValueError(f"{weights.name} holds other weights than the described sizes ask for")
    model = build()
    model.load_state_dict(stored)
    return model.eval()


@contextmanager
def readable(directory: Path, what: str) -> Iterator[None]:
    """Whatever is wrong with the files of a network becomes a CheckpointError."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as error:
        raise CheckpointError(f"{directory} holds no {what} that can be read: {error}") from error
