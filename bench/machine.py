"""What a recorded figure must carry with it: machine, versions, threads."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from datetime import UTC, datetime
from pathlib import Path

import torch

from minibert.train import best_device, has_bfloat16

RESULTS = Path(__file__).parent / "results"


def description() -> dict:
    cpuinfo = Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
    device = best_device()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": models[0] if models else platform.processor(),
        "cores": len(models) or None,
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "bfloat16": has_bfloat16(device),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers")},
    }


def record(name: str, results: object) -> Path:
    """Write `results` with the machine to bench/results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": description(), "results": results}, indent=2) + "\n", encoding="utf-8")
    return path
