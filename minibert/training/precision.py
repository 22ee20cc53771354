"""The device and the number format that a model is computed with: training may use bfloat16, answers are float32."""

from __future__ import annotations

import torch
from torch import nn


def autocast(device: torch.device) -> torch.autocast:
    """For training: bfloat16 arithmetic where it is faster, else plain float32. Weights stay float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=has_bfloat16(device))


def ready_to_answer(model: nn.Module, precision: str = "float32") -> None:
    """Move a model to the best device. With "bfloat16" it then answers in that format, in any thread: less exact, and
    faster where `has_bfloat16`."""
    device = best_device()
    model.to(device)
    if precision == "bfloat16":
        # On the model itself, because the service computes in a thread of its own, where no autocast around it holds.
        model.forward = torch.autocast(device.type, torch.bfloat16)(model.forward)  # type: ignore[method-assign]


def has_bfloat16(device: torch.device) -> bool:
    """True where bf16 matrix products are faster than float32: recent GPUs, and CPUs with AMX, or AVX512-BF16 by AMD.

    Intel's AVX512-BF16 multiplies no more numbers per cycle than its float32, and took 1.6 times as long in
    `bench.precision`. A fixed rule, not a benchmark at the start, so that a resumed run keeps its precision.
    """
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    has = torch.cpu.get_capabilities()
    by_intel = "Intel" in str(has.get("cpu_name"))
    return device.type == "cpu" and bool(has.get("amx_bf16") or (has.get("avx512_bf16") and not by_intel))


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
