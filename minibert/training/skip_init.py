"""Build a model without random initialisation: its weights are loaded later, or only their shapes are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from minibert.model import SKIP_INIT

DRAWING = {nn.init.normal_, nn.init.uniform_, nn.init.trunc_normal_, nn.init.kaiming_uniform_, nn.init.xavier_uniform_}


@contextmanager
def skip_init(*, whole: bool = False) -> Iterator[None]:
    """Encoders and masked-LM heads built in this context skip the paper's random initialisation, which takes ten times
    as long as reading a file. whole: every weight is filled later, and no layer draws its own either."""
    before = SKIP_INIT.set(True)
    try:
        with _DrawsNothing() if whole else nullcontext():
            yield
    finally:
        SKIP_INIT.reset(before)


class _DrawsNothing(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None) -> Any:
        if function in DRAWING:
            return (kwargs or {}).get("tensor", args[0] if args else None)
        return function(*args, **(kwargs or {}))


@contextmanager
def sizes_only() -> Iterator[None]:
    """Models built in this context have shapes but no memory, so that a config of 100 GB does no harm. Initialisation
    is skipped: on the device "meta" it would import a compiler, which takes seconds and 80 MB."""
    with torch.device("meta"), _DrawsNothing():
        yield
