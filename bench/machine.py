"""Record a benchmark's results in a file, together with the machine they were measured on."""

from __future__ import annotations

import json
from pathlib import Path

from minibert.training import machine

RESULTS = Path(__file__).parent / "results"


def description() -> dict:
    return {"cores": len(machine.processors()) or None} | machine.description("transformers", "tokenizers")


def record(name: str, results: object) -> Path:
    """Write `results` with the machine to bench/results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": description(), "results": results}, indent=2) + "\n", encoding="utf-8")
    return path


def recorded(name: str) -> dict:
    """The results that `record` wrote under this name; {} if there are none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
