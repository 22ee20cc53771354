"""A model made without drawing its random weights: they come from elsewhere, or only their sizes are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

_filled_later = ContextVar("filled_later", default=False)
DRAWING = {nn.init.normal_, nn.init.uniform_, nn.init.trunc_normal_, nn.init.kaiming_uniform_, nn.init.xavier_uniform_}


@contextmanager
def filled_later() -> Iterator[None]:
    """Encoders and masked-LM heads that are made in here get none of the paper's random weights: drawing those takes
    ten times as long as reading a file."""
    before = _filled_later.set(True)
    try:
        yield
    finally:
        _filled_later.reset(before)


def is_filled_later() -> bool:
    return _filled_later.get()


class _DrawsNothing(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in DRAWING:
            return (kwargs or {}).get("tensor", args[0] if args else None)
        return function(*args, **(kwargs or {}))


@contextmanager
def sizes_only() -> Iterator[None]:
    """Models that are made in here have shapes and no numbers, so that what asks for 100 GB does not get them. Nothing
    is drawn: on the device "meta" that would import a compiler, which takes seconds and 80 MB."""
    with torch.device("meta"), _DrawsNothing():
        yield
