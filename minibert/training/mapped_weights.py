"""Weights mapped into memory: all processes of a machine that load one checkpoint share the pages of its file.

A model computes in float32, and shipped files are float16 to be small. A float32 copy of such a file is kept in the
cache folder, named by the hash of what it was made from; copies that were not used for longest are removed.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from minibert.folders import CACHE

COPIES = CACHE / "weights"
WORTH_A_COPY = 1_000_000  # bytes of a file; below that, memory does not matter
MOST = 2_000_000_000  # bytes of all copies


def load_mapped(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file, in float32 unless they are integers or complex. Writing into one changes
    neither the file nor what other processes read. Raises SafetensorError."""
    stored = load_file(file)  # maps it
    if all(tensor.dtype == torch.float32 or not tensor.is_floating_point() for tensor in stored.values()):
        return stored
    if file.stat().st_size < WORTH_A_COPY:
        return in_float32(stored)
    with file.open("rb") as stream:
        copy = COPIES / f"{hashlib.file_digest(stream, 'sha256').hexdigest()}.safetensors"
    with suppress(OSError, SafetensorError):  # there is no copy yet, or a damaged one
        return load_file(copy)
    converted = in_float32(stored)
    with suppress(OSError, SafetensorError):  # a full disk, say: then this process has weights of its own
        keep(converted, copy)
        return load_file(copy)
    return converted


def in_float32(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def keep(tensors: dict[str, torch.Tensor], copy: Path) -> None:
    """Write the copy, whole or not at all; then remove the oldest ones beyond MOST bytes, leftovers of killed processes
    among them."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    written = copy.with_name(f"{copy.name}.{os.getpid()}")
    save_file(tensors, written)
    with written.open("rb") as file:
        os.fsync(file.fileno())  # the name promises what is in it, even if the machine stops now
    if copy.exists():
        written.unlink()  # another process was quicker, and others have mapped its copy
    else:
        written.rename(copy)
    size = 0
    for one in sorted(copy.parent.iterdir(), key=lambda one: one.stat().st_atime, reverse=True):
        size += one.stat().st_size
        if size > MOST and one != copy:
            one.unlink()  # who has mapped it keeps it
