"""Fixed position vectors."""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoids(length: int, size: int) -> Tensor:
    """Sines at even places, cosines at odd ones, wavelengths 2π … 10000·2π (Vaswani et al. 2017, §3.5):
    PE[pos, 2i] = sin(pos / 10000^(2i/size)), PE[pos, 2i+1] = cos of the same. → (length, size)"""
    if torch.get_default_device().type == "meta":  # of a model that only has shapes: `arange` would import a compiler
        return torch.empty(length, size)
    position = torch.arange(length, dtype=torch.float32)[:, None]  # (T, 1)
    frequency = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)  # (⌈size/2⌉,)
    table = torch.zeros(length, size)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency[: size // 2])
    return table
