"""Results as experiments record them, made without a run."""

import json
from pathlib import Path

from minibert.checkpoint import config_values
from minibert.experiments.comparisons import comparison_named
from minibert.folders import CHECKPOINTS


def write_records(folder: Path, name: str, records: list[dict]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))


def comparison_record(name: str, arm: str, seed: int, score: float, start: str = "mini-en", **changes) -> dict:
    comparison = comparison_named(name, config_values(CHECKPOINTS / start)["hidden_size"])
    metric = "f1" if comparison.task == "tagging" else "accuracy"
    return {
        "experiment": name,
        "arm": arm,
        "seed": seed,
        "metrics": {metric: score},
        "task": comparison.task,
        "settings": comparison.values(arm),
        "trained": 1234,
        "head": 1234,
        "parameters": 9999,
        "steps": 10,
        "seconds": 7.0,
        "examples": 440,
        "measured_on": 110,
        "majority": 0.5,
        "data": ["entities"],
        "model": "a <b>model</b>",
        "command": f"python -m minibert experiment {name} --seeds 3",
        "machine": {"processor": "x"},
        **changes,
    }


def relative_records(name: str, values: dict[str, dict[str, list[float]]], scale: dict) -> list[dict]:
    """Of an experiment that holds relatives against BERT. values: arm → metric → a value a seed."""
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-25"}
    return [
        {
            "experiment": name,
            "arm": arm,
            "seed": seed,
            "pretraining": {},
            "scale": scale,
            "steps": 7,
            "tokens": 99,
            "metrics": {metric: found[seed] for metric, found in metrics.items() if seed < len(found)},
            "parameters": 1234,
            "curve": [],
            "seconds": 3.0,
            "data": ["toy"],
            "machine": machine,
            "command": f"python -m minibert experiment {name}",
        }
        for arm, metrics in values.items()
        for seed in range(max(map(len, metrics.values())))
    ]
