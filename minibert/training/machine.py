"""What to record with every measurement: date, processor, threads, versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import torch

from minibert.training.precision import best_device, has_bfloat16


def processors() -> list[str]:
    """The name of each processor, from /proc/cpuinfo; empty where there is no such file."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return [line.split(":")[1].strip() for line in lines if line.startswith("model name")]


def memory() -> int:
    """This machine's memory in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def description(*packages: str) -> dict:
    """The facts to record with a measurement, as JSON values; includes the versions of torch and `packages`."""
    device = best_device()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": next(iter(processors()), platform.processor()),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "bfloat16": has_bfloat16(device),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("torch", *packages)},
    }
